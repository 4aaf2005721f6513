import { shorten } from '../../base/format.js';
import type { Message } from '../channel.js';
import { disarm, summarise } from './message-texts.js';

/** The most that Slack accepts in a block's text, and shows of the text beside the blocks. */
const headerCharacters = 150;
const blockCharacters = 3_000;
const plainCharacters = 4_000;

/**
 * A message in blocks of plain text, in which Slack finds no markup. Programs that can't read blocks, such as Mattermost, and
 * Slack's own notifications, show `text`. The former may read it as Markdown, in which no link is left; backslashes would be shown to
 * people in Slack. (docs.slack.dev/reference/block-kit)
 */
export function renderSlackMessage(message: Message): object {
  const { title, text, url } = message;
  const plain = [title, text].filter(Boolean).map(disarm);
  return {
    text: escapeWithin([...plain, url ?? ''].filter(Boolean).join('\n'), plainCharacters),
    blocks: [
      renderTitle(title),
      ...(text === '' ? [] : [section(text)]),
      { type: 'context', elements: [plainText(summarise(message), blockCharacters)] },
      ...(url === undefined
        ? []
        : [
            {
              type: 'actions',
              elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open' }, url }],
            },
          ]),
    ],
    mrkdwn: false,
    unfurl_links: false,
  };
}

/** Only a header is bold without markup, and it must be short. */
function renderTitle(title: string): object {
  const text = plainText(title, blockCharacters);
  return text.text.length > headerCharacters ? section(title) : { type: 'header', text };
}

function section(text: string): object {
  return { type: 'section', text: plainText(text, blockCharacters) };
}

function plainText(text: string, most: number) {
  return { type: 'plain_text', text: escapeWithin(disarm(text), most), emoji: false };
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Without these characters nothing is a link or a mention in Slack. */
function escapeWithin(text: string, most: number): string {
  const escaped = text.replace(/[&<>]/g, (character) => entities[character] ?? character);
  // No part of an entity may remain.
  return shorten(escaped, most).replace(/&\w*…$/, '…');
}
