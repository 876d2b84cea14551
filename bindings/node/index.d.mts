export * from './index.cjs';
import * as photic from './index.cjs';
export default photic;
