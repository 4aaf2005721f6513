import { showInLine } from '../base/foreign-text.js';
import { formatCount, formatCountOf } from '../base/format.js';
import type { WriteCommand } from '../base/shell.js';
import { describeInHouse } from '../booking/stay.js';
import { adviseOn, describeImplausible } from '../rules/acceptance-words.js';
import { adviseInLines } from '../rules/finding.js';
import { isPartProblem, type Notice, type NoticeEvent, type PartProblem } from '../rules/notice.js';
import type { Composed } from './channel.js';
import { isRefusingChannel } from './refused-credentials.js';

/** The state of the reviews when a message is sent. */
export interface Situation {
  /** Days up to yesterday without a good review, without a gap; undefined while no day was ever good. */
  readonly daysWithoutReview?: number | undefined;
  /** Cases with an open booking whose check-in is today. */
  readonly checkInsToday: number;
  /** Cases with an open booking of a guest who is in house. */
  readonly inHouse?: number;
  /** Writes a command as a person would type it. */
  readonly command: WriteCommand;
}

/** The first line says what, which day, and how bad; the others what to do. */
export function describeNotice(notice: Notice, situation: Situation): Composed {
  const { event, subject, stage } = notice;
  if (stage === 'recovered') {
    const recovery = isPartProblem(event) ? recoveries[event](subject) : `${event} ${subject}`;
    return { title: `Recovered: ${recovery}`, text: '' };
  }
  const [title = '', ...text] = wordings[event](readNotice(notice, situation));
  return { title: stage === 'reminder' ? `Still: ${title}` : title, text: join(text) };
}

/** What wordings are made of. */
function readNotice({ subject, day = '', facts }: Notice, situation: Situation) {
  const number = (name: string) => Number(facts[name] ?? 0);
  const some = (name: string, thing: string) => formatCountOf(number(name), thing);
  return {
    ...{ subject, day, number, some },
    command: situation.command,
    text: (name: string) => String(facts[name] ?? ''),
    /** Empty for none. */
    count: (name: string, thing: string, state: string) =>
      number(name) > 0 ? `${some(name, thing)} ${state}` : '',
    danger: describeDanger(situation),
  };
}

type About = ReturnType<typeof readNotice>;

const checkExport = 'Check the export. Bookings that are missing in it are not reviewed.';

/** The title and the lines below it, without those that are empty. */
const wordings: Readonly<Record<NoticeEvent, (about: About) => readonly string[]>> = {
  'run-failed': ({ subject, day, danger, text, count, command }) => [
    `The review of ${subject} failed (${text('code')})${danger}`,
    text('message'),
    count('pending', 'booking', 'not delivered'),
    `To resume it: ${command(`run ${day}`)}`,
  ],
  'day-late': ({ day, danger, text, command }) => [
    `${day} was not reviewed by its deadline${danger}`,
    text('reason'),
    `To see why: ${command(`status ${day}`)}; to run it: ${command(`run ${day}`)}`,
  ],
  'day-recovered': ({ day }) => [`${day} is reviewed now`],
  'result-late': ({ day, count, command }) => [
    `The result of ${day} has not arrived in time`,
    count('delivered', 'booking', 'without a verdict'),
    `Ask the service for it. To look again: ${command(`run ${day}`)}`,
  ],
  'result-set-aside': ({ day, count, command }) => [
    `A result of ${day} was set aside: most of its rows name other bookings`,
    count('foreign', 'row', 'about other bookings'),
    count('ours', 'row', 'about ours'),
    'It is archived, and no verdict of it counts. The run waits for another result.',
    `Ask the service which result is ours. To see more: ${command(`status ${day}`)}`,
  ],
  'result-incomplete': ({ day, some, command }) => [
    `The result of ${day} is incomplete: ${some('unanswered', 'booking')} without a verdict`,
    `What it names counts already: ${command(`affected ${day}`)}`,
    `Ask the service for the complete result, then: ${command(`run ${day}`)}`,
    'What to do if there is none: docs/runbook.md, "Half a result".',
  ],
  'volume-dropped': ({ subject, day, text, command }) => [
    `${day} has far fewer bookings than usual: ${text('drops')}`,
    checkExport,
    ...(subject === day ? adviseInLines(adviseOn('volume', day), command) : []),
  ],
  'affected-implausible': ({ day, number, command }) => [
    `${day} has ${describeImplausible({ affected: number('affected'), judged: number('judged') })}`,
    'Perhaps the source, the result or the account is wrong: look before anybody acts. Their cases are open.',
    ...adviseInLines(adviseOn('affected', day), command),
  ],
  'volume-low': ({ day, number, command }) => [
    `${day} has fewer bookings than usual: ${formatCount(number('accepted'))}, usually ${formatCount(number('usual'))}`,
    'The day is good. Check the export: bookings that are missing in it are not reviewed.',
    `Once it is complete: ${command(`replay ${day} --late`)}`,
  ],
  'provider-silent': ({ day, text, number }) => [
    `No bookings of ${text('provider')} on ${day}, usually ${formatCount(number('usual'))}`,
    checkExport,
  ],
  'affected-found': ({ day, some, count, command }) => [
    day === ''
      ? `An e-mail names ${some('affected', 'booking')} on an incorrect mapping`
      : `${some('affected', 'booking')} of ${day} on an incorrect mapping`,
    count('mappings', 'mapping', 'named without bookings'),
    count('unanswered', 'booking', 'without a verdict'),
    day === '' ? '' : `To list them: ${command(`affected ${day}`)}`,
    `To act: ${command('cases')}`,
  ],
  'case-urgent': (about) => (about.number('cases') > 0 ? describeManyUrgent(about) : describeUrgent(about)),
  'case-escalated': ({ text, command }) => [
    `Case ${text('case')} was reported to the service and is not corrected`,
    `Ask the service again. To act: ${command(`case ${text('case')}`)}`,
  ],
  'mappings-synced': ({ some, count, command }) => [
    `${some('newHotels', 'new master hotel')} in the mappings`,
    count('added', 'mapping', 'added'),
    count('moved', 'mapping', 'moved to another master hotel'),
    count('deleted', 'mapping', 'deleted'),
    `Create a record for each. They are in the file of mappings.newHotels; without one: ${command('mappings sync --new-hotels FILE')}`,
  ],
  'sync-failing': ({ text, command }) => [
    'The copy of the mappings cannot be updated',
    text('reason'),
    `To try it: ${command('mappings sync')}`,
  ],
  'copy-stale': ({ some, command }) => [
    `The copy of the mappings is ${some('hours', 'hour')} old`,
    'Bookings are compared with it, and current and upcoming stays are watched by it.',
    `To update it: ${command('mappings sync')}`,
  ],
  'export-missing': ({ command }) => [
    'The export that was requested has not arrived',
    `To look again: ${command('export fetch')}`,
  ],
  'credentials-refused': ({ subject, text, command }) => [
    `${describeRefusal(subject)} (${text('code')})`,
    text('message'),
    `${describeDamage(subject)} until that is fixed. To try it: ${command('doctor')}`,
  ],
  'resource-low': ({ subject, text }) => [
    `Only ${text('free')} free for ${subject}: ${text('path')}`,
    'A run that finds the disk full fails, and loses nothing. Free some space.',
  ],
  'canary-missed': ({ day, command }) => [
    `Nothing named the canary of ${day}`,
    'The service reviews nothing, or its e-mails do not arrive.',
    `To see more: ${command(`report ${day}`)}`,
  ],
  'mail-set-aside': describeMail,
  'morning-digest': ({ day }) => [`Reviews of ${day}`],
};

function describeUrgent({ text, count, command }: About): string[] {
  const since = text('inHouseSince');
  const guest =
    since === ''
      ? `a guest checks in on ${text('firstCheckIn')}`
      : `a guest is ${describeInHouse(since, text('inHouseUntil'))}`;
  return [
    `Case ${text('case')}: ${guest}, and the mapping is ${text('state')}`,
    count('openBookings', 'booking', 'not resolved'),
    `To act: ${command(`case ${text('case')}`)}`,
  ];
}

function describeManyUrgent({ some, count, command }: About): string[] {
  return [
    `${some('cases', 'more case')} with a guest in house or a check-in by tomorrow`,
    count('inHouse', 'case', 'with guests in house'),
    'The most urgent ones have a message each.',
    `To act: ${command('cases')}`,
  ];
}

function describeMail({ text, command }: About): string[] {
  const find = `To find it: ${command('verdicts list --unknown')}; to use it: ${command('verdicts import FILE')}`;
  switch (text('reason')) {
    case 'unknown-sender':
      return [
        'An e-mail of an unknown sender names bookings that were sent',
        'It opened nothing. If the service has changed its address, add that to verdicts.from.',
        find,
      ];
    case 'not-fetched':
      return [
        'An e-mail in the mailbox of verdicts cannot be fetched',
        'The mailbox lists it, and hands out nothing that is an e-mail. It is tried for a day, then passed over: it may name bookings on an incorrect mapping.',
        `Open the mailbox with a mail program. To use what you save there: ${command('verdicts import FILE')}`,
      ];
    default:
      return [
        `An e-mail about mappings was set aside (${text('reason')})`,
        text('reason') === 'not-authenticated' ? 'Others of that day are only listed.' : '',
        'Nothing in it is used, and it is not read again: it may name bookings on an incorrect mapping. Read it yourself.',
        find,
      ];
  }
}

/** What works again. Problems of a day end with `day-recovered`. */
const recoveries: Readonly<Record<PartProblem, (subject: string) => string>> = {
  'sync-failing': () => 'the copy of the mappings is updated again',
  'copy-stale': () => 'the copy of the mappings is up to date',
  'export-missing': () => 'the export has arrived',
  'credentials-refused': (subject) => `${namePeer(subject)} accepts the account`,
  'resource-low': (subject) => `enough space is free for ${subject}`,
};

function namePeer(subject: string): string {
  return subject === 'sftp' ? 'the SFTP server' : `the ${subject}`;
}

function describeRefusal(subject: string): string {
  const peer = namePeer(subject);
  const refusal = `${peer.slice(0, 1).toUpperCase()}${peer.slice(1)} refuses the account`;
  return subject === 'sftp' || subject === 'source'
    ? `${refusal}, or its host key has changed`
    : `${refusal} or its ${subject === 'service' ? 'key' : 'password'}`;
}

function describeDamage(subject: string): string {
  if (isRefusingChannel(subject)) return 'Nobody is told through it';
  return subject === 'mailbox' ? "The service's e-mails are not read" : 'Nothing is reviewed';
}

/** Such as "; day 3 without review, 41 cases with check-in today". */
function describeDanger({ daysWithoutReview = 0, checkInsToday, inHouse = 0 }: Situation): string {
  const parts = [
    ...(daysWithoutReview > 1 ? [`day ${formatCount(daysWithoutReview)} without review`] : []),
    ...(inHouse > 0 ? [`${formatCountOf(inHouse, 'case')} with guests in house`] : []),
    ...(checkInsToday > 0 ? [`${formatCountOf(checkInsToday, 'case')} with check-in today`] : []),
  ];
  return parts.length === 0 ? '' : `; ${parts.join(', ')}`;
}

function join(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n');
}

/** Several notices of one kind as one message: how many, and a line for each. */
export function describeDigest(each: readonly Composed[]): Composed {
  const [first] = each;
  const title = `${formatCount(each.length)} notices, the first: ${first?.title ?? ''}`;
  const listed = each.slice(0, listedInDigest).map(({ title }) => showInLine(`- ${title}`));
  const left = each.length - listed.length;
  return {
    title,
    text: join([...listed, left > 0 ? `and ${formatCount(left)} more` : '', lastLine(first?.text)]),
  };
}

const listedInDigest = 50;

/** What to do is the same for all notices of a kind. */
function lastLine(text = ''): string {
  return text.split('\n').at(-1) ?? '';
}
