import { randomUUID } from 'node:crypto';
import { createS3DayFile } from '../../../src/sources/files/remote-day-files.js';
import { createAwsBucket } from '../../../src/transports/s3/aws-bucket.js';
import { describeSourceContract } from '../../contracts/source.js';
import { bucketName, s3Secrets, useS3Server } from '../../support/s3-server.js';
import { csvInGzip, type FilePlace, prepareFiles } from './file-driver.js';

const server = useS3Server();

function makePlace(): FilePlace {
  const folder = randomUUID();
  return {
    file: createS3DayFile({
      bucket: bucketName,
      key: `${folder}/bookings-{day}.csv`,
      open: async () => createAwsBucket(bucketName, server().access()),
    }),
    lay: (day, content) => server().put(`${folder}/bookings-${day}.csv`, content),
    secrets: s3Secrets,
    held: () => server().held(),
  };
}

// The contracts of local files cover the differences between forms.
describeSourceContract(`${csvInGzip.name} in a bucket`, prepareFiles(csvInGzip, makePlace));
