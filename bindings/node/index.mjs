import photic from './index.cjs';

export const {
  Explanation, Lowered, PhoticError, Profile, Repaired, Report, Session, View, backend,
  check, checkSync, explain, explainSync, lower, lowerSync,
  photicAnthropic, photicFetch, photicLangChain, photicMiddleware, photicProcessor,
  repair, repairSync, route, view, viewSync,
} = photic;
export default photic;
