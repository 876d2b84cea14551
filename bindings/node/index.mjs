import photic from './index.cjs';

export const {
  Explanation, Lowered, PhoticError, Profile, Repaired, Report, View,
  check, checkSync, explain, explainSync, lower, lowerSync, photicFetch, photicMiddleware, repair, repairSync, route, view, viewSync,
} = photic;
export default photic;
