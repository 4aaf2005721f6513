import { showInLine } from '../base/foreign-text.js';
import { formatCount, formatCountOf } from '../base/format.js';
import type { WriteCommand } from '../base/shell.js';
import { describeInHouse } from '../booking/stay.js';
import { adviseOn, describeImplausible } from '../rules/acceptance-words.js';
import { adviseInLines } from '../rules/finding.js';
import { type Facts, isPartProblem, type Notice } from '../rules/notice.js';
import type { Message } from './channel.js';
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

type Words = Pick<Message, 'title' | 'text'>;

/** The first line says what, which day, and how bad; the others what to do. */
export function describeNotice(notice: Notice, situation: Situation): Words {
  const words = describeRaised(notice, situation);
  switch (notice.stage) {
    case 'raised':
      return words;
    case 'reminder':
      return { ...words, title: `Still: ${words.title}` };
    case 'recovered':
      return { title: `Recovered: ${describeRecovery(notice)}`, text: '' };
  }
}

function describeRaised({ event, subject, day = '', facts }: Notice, situation: Situation): Words {
  const { command } = situation;
  const about = createReader(facts);
  switch (event) {
    case 'run-failed':
      return {
        title: `The review of ${subject} failed (${about.text('code')})${describeDanger(situation)}`,
        text: lines(
          about.text('message'),
          about.count('pending', 'booking', 'not delivered'),
          `To resume it: ${command(`run ${day}`)}`,
        ),
      };
    case 'day-late':
      return {
        title: `${day} was not reviewed by its deadline${describeDanger(situation)}`,
        text: lines(
          about.text('reason'),
          `To see why: ${command(`status ${day}`)}; to run it: ${command(`run ${day}`)}`,
        ),
      };
    case 'day-recovered':
      return { title: `${day} is reviewed now`, text: '' };
    case 'result-late':
      return {
        title: `The result of ${day} has not arrived in time`,
        text: lines(
          about.count('delivered', 'booking', 'without a verdict'),
          `Ask the service for it. To look again: ${command(`run ${day}`)}`,
        ),
      };
    case 'result-set-aside':
      return {
        title: `A result of ${day} was set aside: most of its rows name other bookings`,
        text: lines(
          about.count('foreign', 'row', 'about other bookings'),
          about.count('ours', 'row', 'about ours'),
          'It is archived, and no verdict of it counts. The run waits for another result.',
          `Ask the service which result is ours. To see more: ${command(`status ${day}`)}`,
        ),
      };
    case 'result-incomplete':
      return {
        title: `The result of ${day} is incomplete: ${formatCountOf(about.number('unanswered'), 'booking')} without a verdict`,
        text: lines(
          `What it names counts already: ${command(`affected ${day}`)}`,
          `Ask the service for the complete result, then: ${command(`run ${day}`)}`,
          'What to do if there is none: docs/runbook.md, "Half a result".',
        ),
      };
    case 'volume-dropped':
      return {
        title: `${day} has far fewer bookings than usual: ${about.text('drops')}`,
        text: lines(
          'Check the export. Bookings that are missing in it are not reviewed.',
          ...(subject === day ? adviseInLines(adviseOn('volume', day), command) : []),
        ),
      };
    case 'affected-implausible':
      return {
        title: `${day} has ${describeImplausible({ affected: about.number('affected'), judged: about.number('judged') })}`,
        text: lines(
          'Perhaps the source, the result or the account is wrong: look before anybody acts. Their cases are open.',
          ...adviseInLines(adviseOn('affected', day), command),
        ),
      };
    case 'volume-low':
      return {
        title: `${day} has fewer bookings than usual: ${formatCount(about.number('accepted'))}, usually ${formatCount(about.number('usual'))}`,
        text: lines(
          'The day is good. Check the export: bookings that are missing in it are not reviewed.',
          `Once it is complete: ${command(`replay ${day} --late`)}`,
        ),
      };
    case 'provider-silent':
      return {
        title: `No bookings of ${about.text('provider')} on ${day}, usually ${formatCount(about.number('usual'))}`,
        text: lines('Check the export. Bookings that are missing in it are not reviewed.'),
      };
    case 'affected-found':
      return {
        title:
          day === ''
            ? `An e-mail names ${formatCountOf(about.number('affected'), 'booking')} on an incorrect mapping`
            : `${formatCountOf(about.number('affected'), 'booking')} of ${day} on an incorrect mapping`,
        text: lines(
          about.count('mappings', 'mapping', 'named without bookings'),
          about.count('unanswered', 'booking', 'without a verdict'),
          day === '' ? '' : `To list them: ${command(`affected ${day}`)}`,
          `To act: ${command('cases')}`,
        ),
      };
    case 'case-urgent':
      if (about.number('cases') > 0)
        return {
          title: `${formatCountOf(about.number('cases'), 'more case')} with a guest in house or a check-in by tomorrow`,
          text: lines(
            about.count('inHouse', 'case', 'with guests in house'),
            'The most urgent ones have a message each.',
            `To act: ${command('cases')}`,
          ),
        };
      return {
        title: `Case ${about.text('case')}: ${describeGuest(about)}, and the mapping is ${about.text('state')}`,
        text: lines(
          about.count('openBookings', 'booking', 'not resolved'),
          `To act: ${command(`case ${about.text('case')}`)}`,
        ),
      };
    case 'case-escalated':
      return {
        title: `Case ${about.text('case')} was reported to the service and is not corrected`,
        text: lines(`Ask the service again. To act: ${command(`case ${about.text('case')}`)}`),
      };
    case 'mappings-synced':
      return {
        title: `${formatCountOf(about.number('newHotels'), 'new master hotel')} in the mappings`,
        text: lines(
          about.count('added', 'mapping', 'added'),
          about.count('moved', 'mapping', 'moved to another master hotel'),
          about.count('deleted', 'mapping', 'deleted'),
          `Create a record for each. They are in the file of mappings.newHotels; without one: ${command('mappings sync --new-hotels FILE')}`,
        ),
      };
    case 'sync-failing':
      return {
        title: 'The copy of the mappings cannot be updated',
        text: lines(about.text('reason'), `To try it: ${command('mappings sync')}`),
      };
    case 'copy-stale':
      return {
        title: `The copy of the mappings is ${formatCountOf(about.number('hours'), 'hour')} old`,
        text: lines(
          'Bookings are compared with it, and current and upcoming stays are watched by it.',
          `To update it: ${command('mappings sync')}`,
        ),
      };
    case 'export-missing':
      return {
        title: 'The export that was requested has not arrived',
        text: lines(`To look again: ${command('export fetch')}`),
      };
    case 'credentials-refused':
      return {
        title: `${describeRefusal(subject)} (${about.text('code')})`,
        text: lines(
          about.text('message'),
          `${describeDamage(subject)} until that is fixed. To try it: ${command('doctor')}`,
        ),
      };
    case 'resource-low':
      return {
        title: `Only ${about.text('free')} free for ${subject}: ${about.text('path')}`,
        text: lines('A run that finds the disk full fails, and loses nothing. Free some space.'),
      };
    case 'canary-missed':
      return {
        title: `Nothing named the canary of ${day}`,
        text: lines(
          'The service reviews nothing, or its e-mails do not arrive.',
          `To see more: ${command(`report ${day}`)}`,
        ),
      };
    case 'mail-set-aside':
      if (about.text('reason') === 'unknown-sender')
        return {
          title: 'An e-mail of an unknown sender names bookings that were sent',
          text: lines(
            'It opened nothing. If the service has changed its address, add that to verdicts.from.',
            `To find it: ${command('verdicts list --unknown')}; to use it: ${command('verdicts import FILE')}`,
          ),
        };
      if (about.text('reason') === 'not-fetched')
        return {
          title: 'An e-mail in the mailbox of verdicts cannot be fetched',
          text: lines(
            'The mailbox lists it, and hands out nothing that is an e-mail. It is tried for a day, then passed over: it may name bookings on an incorrect mapping.',
            `Open the mailbox with a mail program. To use what you save there: ${command('verdicts import FILE')}`,
          ),
        };
      return {
        title: `An e-mail about mappings was set aside (${about.text('reason')})`,
        text: lines(
          about.text('reason') === 'not-authenticated' ? 'Others of that day are only listed.' : '',
          'Nothing in it is used, and it is not read again: it may name bookings on an incorrect mapping. Read it yourself.',
          `To find it: ${command('verdicts list --unknown')}; to use it: ${command('verdicts import FILE')}`,
        ),
      };
    case 'morning-digest':
      return { title: `Reviews of ${day}`, text: '' };
  }
}

/** What works again. Problems of a day end with `day-recovered`. */
function describeRecovery({ event, subject }: Notice): string {
  if (!isPartProblem(event)) return `${event} ${subject}`;
  switch (event) {
    case 'sync-failing':
      return 'the copy of the mappings is updated again';
    case 'copy-stale':
      return 'the copy of the mappings is up to date';
    case 'export-missing':
      return 'the export has arrived';
    case 'credentials-refused':
      return `${namePeer(subject)} accepts the account`;
    case 'resource-low':
      return `enough space is free for ${subject}`;
  }
}

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

function describeGuest({ text }: ReturnType<typeof createReader>): string {
  const since = text('inHouseSince');
  return since === ''
    ? `a guest checks in on ${text('firstCheckIn')}`
    : `a guest is ${describeInHouse(since, text('inHouseUntil'))}`;
}

function createReader(facts: Facts) {
  const number = (name: string) => Number(facts[name] ?? 0);
  return {
    number,
    text: (name: string) => String(facts[name] ?? ''),
    /** Empty for none. */
    count: (name: string, thing: string, state: string) =>
      number(name) > 0 ? `${formatCountOf(number(name), thing)} ${state}` : '',
  };
}

function lines(...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n');
}

/** Several notices of one kind as one message: how many, and a line for each. */
export function describeDigest(each: readonly Words[]): Words {
  const [first] = each;
  const title = `${formatCount(each.length)} notices, the first: ${first?.title ?? ''}`;
  const listed = each.slice(0, listedInDigest).map(({ title }) => showInLine(`- ${title}`));
  const left = each.length - listed.length;
  return {
    title,
    text: lines(...listed, left > 0 ? `and ${formatCount(left)} more` : '', '', lastLine(first?.text)),
  };
}

const listedInDigest = 50;

/** What to do is the same for all notices of a kind. */
function lastLine(text = ''): string {
  return text.split('\n').at(-1) ?? '';
}
