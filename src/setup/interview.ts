import { readSettingFacts } from '../config/single-setting.js';
import type { Examination } from '../examination/examine-day.js';
import type { Finding } from '../examination/finding.js';
import type { Answers, SftpAnswers } from './answers/answers.js';
import { checkAnswer, settingOf } from './answers/check-answer.js';
import { namesServer } from './answers/check-options.js';
import type { InitOptions } from './init-options.js';
import { createQuestions, type Questions } from './questions/questions.js';
import { checkDotEnvValue } from './render/dot-env.js';
import { interviewSource, type SourceInterviewParts } from './source-interview.js';

/** What the questions need to know of the machine. */
export interface InterviewParts extends SourceInterviewParts {
  /** The machine's, by its IANA name. */
  readonly timezone: string;
}

export interface Interview {
  readonly answers: Answers;
  readonly examination: Examination;
  /** What a look at the day's bookings came to. */
  readonly findings: readonly Finding[];
}

/** Asks for what the options don't say. The source is tried as soon as it is named. */
export async function interview(options: InitOptions, parts: InterviewParts): Promise<Interview> {
  const questions = createQuestions(parts);
  const timezone =
    (await questions.text({
      name: 'timezone',
      given: options.timezone,
      message: "The account's time zone",
      fallback: parts.timezone,
    })) ?? parts.timezone;
  const { source, secrets, examination, findings } = await interviewSource(options, timezone, parts);
  const baseUrl = await questions.text({
    name: 'baseUrl',
    given: options.baseUrl,
    message: 'The address of the mapping service (empty: later)',
  });
  const delivery = await askDelivery(options, questions);
  const sftp = delivery === 'file' ? await askServer(options, questions) : undefined;
  await askSecrets(parts, questions, sftp);
  return {
    answers: {
      timezone,
      baseUrl,
      source,
      delivery,
      sftp,
      secrets: { ...questions.secrets(), ...secrets },
    },
    examination,
    findings,
  };
}

function askDelivery(options: InitOptions, questions: Questions): Promise<'body' | 'file'> {
  return questions.choose('delivery', options.delivery, {
    message: 'How do the bookings reach the service?',
    choices: [
      { value: 'body', label: 'In request bodies' },
      { value: 'file', label: 'As a file on an SFTP server' },
    ],
    fallback: namesServer(options) ? 'file' : 'body',
  });
}

async function askServer(options: InitOptions, questions: Questions): Promise<SftpAnswers> {
  const usualPort = String(readSettingFacts(settingOf.sftpPort).fallback);
  const host = await questions.text({
    name: 'sftpHost',
    given: options.sftpHost,
    message: 'The SFTP server (empty: later)',
  });
  const port = await questions.text({
    name: 'sftpPort',
    given: options.sftpPort === undefined ? undefined : String(options.sftpPort),
    message: 'Its port',
    fallback: usualPort,
  });
  const username = await questions.text({
    name: 'sftpUsername',
    given: options.sftpUsername,
    message: 'The user name there (empty: later)',
  });
  const keyFile = await questions.text({
    name: 'sftpKeyFile',
    given: options.sftpKeyFile,
    message: 'The file of the private key (empty: a password is used)',
    isPath: true,
  });
  const hostKey = await questions.text({
    name: 'sftpHostKey',
    message: 'The fingerprint of its host key, SHA256:… (empty: later)',
  });
  return { host, port: Number(port ?? usualPort), username, keyFile, hostKey };
}

async function askSecrets(
  { asksSecrets, known }: InterviewParts,
  questions: Questions,
  sftp: SftpAnswers | undefined,
): Promise<void> {
  if (asksSecrets && known('accountId') === undefined) {
    const message = "The account's identifier (empty: later)";
    const check = (answer: string) => checkAnswer('accountId', answer) ?? checkDotEnvValue(answer);
    const accountId = await questions.text({ name: 'accountId', message, check });
    if (accountId !== undefined) questions.keep('accountId', accountId);
  }
  await questions.secret({ secret: 'apiKey', name: 'apiKey', message: 'The API key (hidden; empty: later)' });
  if (sftp !== undefined && sftp.keyFile === undefined) {
    await questions.secret({
      secret: 'sftpPassword',
      name: 'sftpPassword',
      message: 'The SFTP password (hidden; empty: later)',
    });
  }
}
