import { describeService } from './asking-clients.js';
import { nodeHttp } from './http-clients.js';

describeService(nodeHttp);
