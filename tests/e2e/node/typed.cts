// Read by tsc, never run: how the npm package is used from CommonJS.
import photic = require('photic');

const report: photic.Report = photic.checkSync('{}');
const fetchRepaired: typeof fetch = photic.photicFetch();
export { report, fetchRepaired };
