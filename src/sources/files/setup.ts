import { unknownHostKey, unknownWord } from '../../base/setting-placeholders.js';
import type { BusinessDay } from '../../booking/business-day.js';
import type { SourceError } from '../../booking/source.js';
import {
  type Questions,
  type Sample,
  type SettingWriter,
  type SourceSetup,
  sourceVariables,
} from '../common/setup.js';
import type { DayFile } from './day-file.js';
import { readFileLocation } from './day-file.js';
import { type FileOptions, fileRules } from './flags.js';
import { openDayFile } from './open-day-file.js';
import { describeGuess, readUnknownText, type UnknownText } from './text-file.js';

/** One file a day. */
export interface FileAnswers<Kind extends string = 'csv' | 'ndjson'> {
  readonly kind: Kind;
  /** On this machine, `s3://…` or `sftp://…`. */
  readonly path: string;
  /** For `s3://…`. */
  readonly bucket?: BucketAnswers | undefined;
  /** For `sftp://…`. */
  readonly account?: AccountAnswers | undefined;
}

/** What `.env` has of them; the rest is found as Amazon's own tools find it. */
type BucketAnswers = readonly ('s3Endpoint' | 's3Region' | 's3KeyId' | 's3Secret')[];

interface AccountAnswers {
  readonly username: string | undefined;
  /** Without one the password is used. */
  readonly keyFile: string | undefined;
  readonly hostKey: string | undefined;
}

type FileSettings = Parameters<typeof openDayFile>[0];

/** What differs between the formats of a day's file. */
interface FileFormat<Kind extends string>
  extends Pick<SourceSetup<FileAnswers<Kind>, FileSettings>, 'label' | 'suits' | 'findObjection'> {
  readonly kind: Kind;
  readSample(text: string): Sample;
  explainEmpty(location: string): SourceError;
  /** Settings of this format only. */
  renderMore(write: SettingWriter, found: Pick<Sample, 'delimiter' | 'skipRows'>): string[];
}

const sampleBytes = 256 * 1024;

export function createFileSetup<Kind extends string>({
  kind,
  readSample,
  explainEmpty,
  renderMore,
  ...format
}: FileFormat<Kind>): SourceSetup<FileAnswers<Kind>, FileSettings, FileOptions> {
  const rules = fileRules(kind);

  async function askBucket(
    { s3Endpoint, s3Region }: FileOptions,
    questions: Questions,
  ): Promise<BucketAnswers> {
    const endpoint = await questions.text({
      rule: rules.endpoint,
      given: s3Endpoint,
      message: "The address of the S3 server (empty: Amazon's)",
    });
    const region = await questions.text({
      rule: rules.region,
      given: s3Region,
      message: 'The region (empty: from the environment or the profile)',
    });
    if (endpoint !== undefined) questions.keep('s3Endpoint', endpoint);
    if (region !== undefined) questions.keep('s3Region', region);
    const keyId = await questions.secret({
      secret: 's3KeyId',
      rule: rules.keyId,
      message: "The id of the access key (hidden; empty: found as Amazon's own tools find it)",
    });
    if (keyId !== undefined) {
      await questions.secret({
        secret: 's3Secret',
        rule: rules.keySecret,
        message: 'The secret of the access key (hidden; empty: later)',
      });
    }
    return [
      ...(endpoint === undefined ? [] : (['s3Endpoint'] as const)),
      ...(region === undefined ? [] : (['s3Region'] as const)),
      ...(keyId === undefined ? [] : (['s3KeyId', 's3Secret'] as const)),
    ];
  }

  async function askAccount(options: FileOptions, questions: Questions): Promise<AccountAnswers> {
    const username = await questions.text({
      rule: rules.username,
      given: options.sourceSftpUsername,
      message: 'The user name on the server with the files (empty: later)',
    });
    const keyFile = await questions.text({
      rule: rules.keyFile,
      given: options.sourceSftpKeyFile,
      message: 'The private key file for it (empty: use a password)',
      isPath: true,
    });
    if (keyFile === undefined) {
      await questions.secret({
        secret: 'sourcePassword',
        rule: rules.password,
        message: 'The password for it (hidden; empty: later)',
      });
    }
    const hostKey = await questions.text({
      rule: rules.hostKey,
      given: options.sourceSftpHostKey,
      message: 'The fingerprint of its host key, SHA256:… (empty: later, doctor shows it)',
    });
    return { username, keyFile, hostKey };
  }

  return {
    ...format,
    async ask(options, questions) {
      const fallback = `exports/bookings-{day}.${kind}`;
      const path =
        (await questions.text({
          rule: rules.path,
          given: options.path,
          message: "The file of a day's bookings, with {day} in it; also s3://… or sftp://…",
          fallback,
          isPath: true,
        })) ?? fallback;
      switch (readFileLocation(path).kind) {
        case 'local':
          return { kind, path };
        case 's3':
          return { kind, path, bucket: await askBucket(options, questions) };
        case 'sftp':
          return { kind, path, account: await askAccount(options, questions) };
      }
    },
    listSecrets: ({ account, bucket }) => [
      ...(account !== undefined && account.keyFile === undefined ? (['sourcePassword'] as const) : []),
      ...(bucket ?? []),
    ],
    render: ({ path, account }, write, { records, encoding = 'utf-8', otherEncodings, ...found }) => [
      ...write.setting(['source', 'path'], path),
      ...(otherEncodings === undefined
        ? []
        : write.comment(`The file looks like ${encoding}. ${describeGuess(otherEncodings)}.`, '  ')),
      ...(encoding === 'utf-8' ? [] : write.setting(['source', 'encoding'], encoding)),
      ...(account === undefined ? [] : renderAccount(account, write)),
      ...records,
      ...renderMore(write, found),
    ],
    findRemoteFile: ({ path, account, bucket }) =>
      account === undefined && bucket === undefined ? undefined : path,
    findDayFile: ({ path, account, bucket }) =>
      account === undefined && bucket === undefined ? path : undefined,
    sample(settings, parts) {
      const file = openDayFile(settings, parts);
      return async (day, signal) => {
        const beginning = await readBeginning(file, day, signal);
        if (beginning === undefined) throw explainEmpty(file.locate(day));
        const { text, ...encoding } = beginning;
        return { ...readSample(text), ...encoding };
      };
    },
  };
}

function renderAccount({ username, keyFile, hostKey }: AccountAnswers, write: SettingWriter): string[] {
  const sftp = ['source', 'sftp'] as const;
  return [
    ...write.group(sftp),
    ...write.answer([...sftp, 'username'], username, { text: unknownWord, what: 'your user name there' }),
    ...(keyFile === undefined
      ? write.reference([...sftp, 'password'], sourceVariables.sourcePassword)
      : write.setting([...sftp, 'privateKeyFile'], keyFile)),
    ...write.answer([...sftp, 'hostKey'], hostKey, {
      text: unknownHostKey,
      what: "what `hotel-review doctor` shows, once the server's operator has confirmed it",
    }),
  ];
}

/** Whole lines only, if the file is longer than the sample; undefined for an empty file. */
async function readBeginning(
  file: DayFile,
  day: BusinessDay,
  signal: AbortSignal,
): Promise<UnknownText | undefined> {
  const blocks: Buffer[] = [];
  let held = 0;
  let isLonger = false;
  for await (const { bytes } of file.read(day, { blockBytes: sampleBytes, signal })) {
    isLonger = held >= sampleBytes;
    if (isLonger) break;
    blocks.push(bytes);
    held += bytes.length;
  }
  signal.throwIfAborted();
  if (held === 0) return undefined;
  const read = readUnknownText(Buffer.concat(blocks), file.locate(day));
  return isLonger ? { ...read, text: read.text.slice(0, read.text.lastIndexOf('\n') + 1) } : read;
}
