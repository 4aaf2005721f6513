import { describeBrands, describeMappings, describeService } from './asking-clients.js';
import { curl, urllib } from './http-clients.js';

for (const client of [curl, urllib]) {
  describeService(client);
  describeBrands(client);
  describeMappings(client);
}
