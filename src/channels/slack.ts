import type { Message } from '../notifications/channel.js';
import { shorten } from '../text/format.js';
import { summarise } from './message-texts.js';

/** The most that Slack accepts in a block's text, and shows of the text beside the blocks. */
const blockCharacters = 3_000;
const plainCharacters = 4_000;

/**
 * A message in blocks. Programs that can't read blocks, and Slack's own notifications, show `text`.
 * (docs.slack.dev/reference/block-kit)
 */
export function renderSlackMessage(message: Message): object {
  const { title, text, url } = message;
  return {
    text: escapeWithin([title, text, url ?? ''].filter(Boolean).join('\n'), plainCharacters),
    blocks: [
      section(`*${escapeWithin(title, blockCharacters - 2)}*`),
      ...(text === '' ? [] : [section(escapeWithin(text, blockCharacters))]),
      { type: 'context', elements: [markup(escapeWithin(summarise(message), blockCharacters))] },
      ...(url === undefined
        ? []
        : [
            {
              type: 'actions',
              elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open' }, url }],
            },
          ]),
    ],
    unfurl_links: false,
  };
}

function section(text: string): object {
  return { type: 'section', text: markup(text) };
}

/** Verbatim, so that an address or a name in quoted text does not become a link. */
function markup(text: string): object {
  return { type: 'mrkdwn', text, verbatim: true };
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Without these characters nothing is a link or a mention. */
function escapeWithin(text: string, most: number): string {
  const escaped = text.replace(/[&<>]/g, (character) => entities[character] ?? character);
  // No part of an entity may remain.
  return shorten(escaped, most).replace(/&\w*…$/, '…');
}
