import { describeAnyDeath } from './any-death.js';
import { sqlite } from './sqlite-engine.js';

describeAnyDeath(sqlite);
