import { usePostgres } from '../support/use-servers.js';
import { describeAnyDeath } from './any-death.js';
import { onPostgres } from './postgres-engine.js';

describeAnyDeath(onPostgres(usePostgres()));
