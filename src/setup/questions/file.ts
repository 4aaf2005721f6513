import { readFileLocation } from '../../sources/files/location.js';
import type { BucketAnswers, DropAnswers, FileAnswers, FileKind } from '../answers/source-answers.js';
import type { InitOptions } from '../init-options.js';
import type { Questions } from './questions.js';

/** Asks for the file of a day and, where it lies on a server, how that is reached. */
export async function askFile(
  kind: FileKind,
  options: InitOptions,
  questions: Questions,
): Promise<FileAnswers> {
  const usual = `exports/bookings-{day}.${kind}`;
  const path =
    (await questions.text({
      name: 'path',
      given: options.path,
      message: "The file of a day's bookings, with {day} in it; also s3://… or sftp://…",
      fallback: usual,
      isPath: true,
    })) ?? usual;
  switch (readFileLocation(path).kind) {
    case 'local':
      return { kind, path };
    case 's3':
      return { kind, path, bucket: await askBucket(options, questions) };
    case 'sftp':
      return { kind, path, drop: await askDrop(options, questions) };
  }
}

async function askBucket(
  { s3Endpoint, s3Region }: InitOptions,
  questions: Questions,
): Promise<BucketAnswers> {
  const endpoint = await questions.text({
    name: 's3Endpoint',
    given: s3Endpoint,
    message: "The address of the S3 server (empty: Amazon's)",
  });
  const region = await questions.text({
    name: 's3Region',
    given: s3Region,
    message: 'The region (empty: as the environment or the profile says)',
  });
  const keyId = await questions.secret({
    secret: 's3KeyId',
    name: 's3KeyId',
    message: "The id of the access key (hidden; empty: as Amazon's own tools find one)",
  });
  if (keyId === undefined) return { endpoint, region, hasKey: false };
  await questions.secret({
    secret: 's3Secret',
    name: 's3Secret',
    message: 'The secret of the access key (hidden; empty: later)',
  });
  return { endpoint, region, hasKey: true };
}

async function askDrop(options: InitOptions, questions: Questions): Promise<DropAnswers> {
  const username = await questions.text({
    name: 'sourceSftpUsername',
    given: options.sourceSftpUsername,
    message: "The user name on the files' server (empty: later)",
  });
  const keyFile = await questions.text({
    name: 'sourceSftpKeyFile',
    given: options.sourceSftpKeyFile,
    message: 'The file of the private key for it (empty: a password is used)',
    isPath: true,
  });
  if (keyFile === undefined) {
    await questions.secret({
      secret: 'sourcePassword',
      name: 'sourceSftpPassword',
      message: 'The password for it (hidden; empty: later)',
    });
  }
  const hostKey = await questions.text({
    name: 'sourceSftpHostKey',
    given: options.sourceSftpHostKey,
    message: 'The fingerprint of its host key, SHA256:… (empty: later, doctor shows it)',
  });
  return { username, keyFile, hostKey };
}
