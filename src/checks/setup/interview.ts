import { masterIdField, serviceFields } from '../../booking/booking.js';
import type { IncompleteBookings } from '../../booking/sending.js';
import type { Examination } from '../examination/examine-day.js';
import type { Finding } from '../examination/finding.js';
import { type Answers, readServer, rules, type SftpAnswers } from './answers.js';
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
  const { timezone = parts.timezone } = options;
  parts.asker.tell(describeZone(timezone, options));
  const { source, secrets, examination, findings } = await interviewSource(options, timezone, parts);
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
  const server = options.delivery === 'body' ? undefined : await askServer(options, parts, questions);
  const delivery = options.delivery ?? (server === undefined && !namesServer(options) ? 'body' : 'file');
  if (delivery === 'body') parts.asker.tell(unreadVerdicts);
  const sftp = delivery === 'file' ? await askAccount(options, server, questions) : undefined;
  const incomplete = delivery === 'file' ? await askIncomplete(examination, questions) : undefined;
  return {
    answers: {
      timezone,
      baseUrl,
      source,
      delivery,
      usualBookings: usualBookings === undefined ? undefined : Number(usualBookings),
      sftp,
      incomplete,
      secrets,
    },
    examination,
    findings,
  };
}

const list = new Intl.ListFormat('en', { type: 'conjunction' });

/** What each delivery lacks; otherwise people would find out only after the first night. */
const aboutDelivery = `With an SFTP server the bookings go as a file, and a result says which are
affected. Without one they go in request bodies: verdicts come by e-mail only.`;

const unreadVerdicts = `By body, nobody learns a verdict until the setting verdicts says where the
service's e-mails arrive.`;

function describeZone(zone: string, { timezone }: InitOptions): string {
  return `Days are those of ${zone}${timezone === undefined ? ", this machine's zone (setting timezone)" : ''}.`;
}

/** Asks for the server as HOST or HOST:PORT. With one, delivery by file is better, because its result has the verdicts. */
async function askServer(
  options: InitOptions,
  { asker }: InterviewParts,
  questions: RepeatableQuestions,
): Promise<string | undefined> {
  asker.tell(aboutDelivery);
  return questions.text({
    rule: rules.sftpServer,
    given: options.sftpHost,
    message: 'The SFTP server of the service, HOST or HOST:PORT (empty: none)',
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

async function askAccount(
  options: InitOptions,
  server: string | undefined,
  questions: RepeatableQuestions,
): Promise<SftpAnswers> {
  const { host, port } = server === undefined ? {} : readServer(server);
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
  return { host, port: options.sftpPort ?? port, username, keyFile };
}
