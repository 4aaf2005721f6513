import { pythonCsv } from '../support/csv-readers.js';
import { describeReadResult } from './reviewed-files.js';

describeReadResult(pythonCsv);
