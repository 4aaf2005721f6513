import { masterIdField, serviceFields } from '../booking/booking.js';
import { readSettingFacts } from '../config/single-setting.js';
import type { Examination } from '../examination/examine-day.js';
import type { Finding } from '../examination/finding.js';
import type { IncompleteBookings } from '../review/file/review-line.js';
import { type Answers, rules, type SftpAnswers } from './answers.js';
import { type InitOptions, namesServer } from './options.js';
import { createQuestions, type RepeatableQuestions } from './questions.js';
import { interviewSource, type SourceInterviewParts } from './source-interview.js';

/** What the questions need to know about the machine. */
interface InterviewParts extends SourceInterviewParts {
  /** The machine's time zone, by its IANA name. */
  readonly timezone: string;
}

interface Interview {
  readonly answers: Answers;
  readonly examination: Examination;
  /** What examining the day's bookings found. */
  readonly findings: readonly Finding[];
}

/** Asks for whatever the options leave open, and tries the source as soon as it is known. */
export async function interview(options: InitOptions, parts: InterviewParts): Promise<Interview> {
  const questions = createQuestions(parts);
  const timezone =
    (await questions.text({
      rule: rules.timezone,
      given: options.timezone,
      message: "The account's time zone",
      fallback: parts.timezone,
    })) ?? parts.timezone;
  const { source, secrets, examination, findings } = await interviewSource(options, timezone, parts);
  const emptyDay = await askEmptyDay(options, questions);
  const usualBookings = await questions.text({
    rule: rules.usualBookings,
    given: options.usualBookings === undefined ? undefined : String(options.usualBookings),
    message: 'How many bookings a usual day has; fewer than half of them are too few (empty: not known)',
  });
  const baseUrl = await questions.text({
    rule: rules.baseUrl,
    given: options.baseUrl,
    message: 'The address of the mapping service (empty: later)',
  });
  parts.asker.tell(aboutDelivery);
  const host = options.delivery === 'body' ? undefined : await askHost(options, questions);
  const delivery = await askDelivery(options, host, questions);
  const sftp = delivery === 'file' ? await askServer(options, host, questions) : undefined;
  if (delivery === 'body') parts.asker.tell(unreadVerdicts);
  const incomplete = delivery === 'file' ? await askIncomplete(examination, questions) : undefined;
  const today = await questions.text({
    rule: rules.today,
    given: options.today,
    message:
      'When `serve` reviews new bookings of the current day too, such as */20 7-23 * * * (empty: never)',
  });
  const keys = await questions.text({
    rule: rules.keys,
    given: options.keys,
    message: "A folder for keys that encrypt guests' names here, such as ./keys (empty: no encryption)",
    isPath: true,
  });
  const verdictsFrom = await questions.text({
    rule: rules.verdictsFrom,
    given: options.verdictsFrom,
    message:
      'Whose e-mails name incorrect mappings, such as reviews@service.example or @service.example (empty: later)',
  });
  await askSecrets(parts, questions, sftp);
  return {
    answers: {
      timezone,
      baseUrl,
      source,
      delivery,
      emptyDay,
      usualBookings: usualBookings === undefined ? undefined : Number(usualBookings),
      sftp,
      incomplete,
      today,
      keys,
      verdictsFrom,
      secrets: { ...questions.secrets(), ...secrets },
    },
    examination,
    findings,
  };
}

const list = new Intl.ListFormat('en', { type: 'conjunction' });

/** What each delivery lacks; otherwise people would find out only after the first night. */
const aboutDelivery = `By body, verdicts come by e-mail only: no list of affected bookings, no
archived result. By file, a result says which bookings are affected; bookings
that can't be in the file (file.incomplete: post) go by body, and their
verdicts come by e-mail only.`;

const unreadVerdicts = `By body, nobody learns a verdict until the setting verdicts says where the
service's e-mails arrive.`;

function askEmptyDay(options: InitOptions, questions: RepeatableQuestions): Promise<'fail' | 'succeed'> {
  return questions.choose('emptyDay', options.emptyDay, {
    message: 'How should a day without bookings end?',
    choices: [
      { value: 'fail', label: 'It fails: the export must be broken' },
      { value: 'succeed', label: 'It succeeds: such days are normal' },
    ],
    fallback: 'fail',
  });
}

/** Asked first: with a server, delivery by file is better, because its result says which bookings are affected. */
function askHost(options: InitOptions, questions: RepeatableQuestions): Promise<string | undefined> {
  return questions.text({
    rule: rules.sftpHost,
    given: options.sftpHost,
    message: 'The SFTP server of the service (empty: none, or later)',
  });
}

function askDelivery(
  options: InitOptions,
  host: string | undefined,
  questions: RepeatableQuestions,
): Promise<'body' | 'file'> {
  return questions.choose('delivery', options.delivery, {
    message: 'How do the bookings reach the service?',
    choices: [
      { value: 'file', label: 'As a file on an SFTP server (recommended: its result has the verdicts)' },
      { value: 'body', label: 'In request bodies' },
    ],
    fallback: host !== undefined || namesServer(options) ? 'file' : 'body',
  });
}

/** Asked only about a source that lacks columns, because then no booking of any day could be in the file. */
async function askIncomplete(
  examination: Examination,
  questions: RepeatableQuestions,
): Promise<IncompleteBookings | undefined> {
  if (examination.kind !== 'examined') return undefined;
  const { columns } = examination;
  const missing = serviceFields.filter((field) => field !== masterIdField.name && !columns.has(field));
  if (missing.length === 0) return undefined;
  return questions.choose<IncompleteBookings>('incomplete', undefined, {
    message: `The source has no ${list.format(missing)}, and the file may not have empty cells. What should happen to such bookings?`,
    choices: [
      { value: 'post', label: 'They go by body: their verdicts come by e-mail only, and no file is sent' },
      {
        value: 'leave-empty',
        label: 'They go into the file with empty cells, which the service must accept',
      },
      { value: 'reject', label: 'They are rejected and not reviewed' },
    ],
    fallback: 'post',
  });
}

async function askServer(
  options: InitOptions,
  host: string | undefined,
  questions: RepeatableQuestions,
): Promise<SftpAnswers> {
  const usualPort = String(readSettingFacts(rules.sftpPort.setting).fallback);
  const port = await questions.text({
    rule: rules.sftpPort,
    given: options.sftpPort === undefined ? undefined : String(options.sftpPort),
    message: 'Its port',
    fallback: usualPort,
  });
  const username = await questions.text({
    rule: rules.sftpUsername,
    given: options.sftpUsername,
    message: 'The user name there (empty: later)',
  });
  const keyFile = await questions.text({
    rule: rules.sftpKeyFile,
    given: options.sftpKeyFile,
    message: 'The private key file (empty: use a password)',
    isPath: true,
  });
  const hostKey = await questions.text({
    rule: rules.sftpHostKey,
    message: 'The fingerprint of its host key, SHA256:… (empty: later)',
  });
  return { host, port: Number(port ?? usualPort), username, keyFile, hostKey };
}

async function askSecrets(
  { asksSecrets, known }: InterviewParts,
  questions: RepeatableQuestions,
  sftp: SftpAnswers | undefined,
): Promise<void> {
  if (asksSecrets && known('accountId') === undefined) {
    const message = "The account's identifier (empty: later)";
    const accountId = await questions.text({ rule: rules.accountId, message });
    if (accountId !== undefined) questions.keep('accountId', accountId);
  }
  await questions.secret({
    secret: 'apiKey',
    rule: rules.apiKey,
    message: 'The API key (hidden; empty: later)',
  });
  if (sftp !== undefined && sftp.keyFile === undefined) {
    await questions.secret({
      secret: 'sftpPassword',
      rule: rules.sftpPassword,
      message: 'The SFTP password (hidden; empty: later)',
    });
  }
}
