import { shorten } from '../../base/format.js';
import { endsIncident, type Message } from '../channel.js';
import { disarm, escapeMarkdown, summarise } from './message-texts.js';

/** Teams accepts 28 kB per message: these limits stay below it, even if each character takes four or five bytes. */
const titleCharacters = 500;
const textCharacters = 4_000;
const textLines = 80;

/** An adaptive card, as the workflow "Send webhook alerts to a channel" expects it. (adaptivecards.io) */
export function renderTeamsMessage(message: Message): object {
  const { title, text, url } = message;
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          msteams: { width: 'Full' },
          body: [
            {
              ...textBlock(shorten(title, titleCharacters)),
              size: 'medium',
              weight: 'bolder',
              color: colourOf(message),
            },
            // Only some clients show a line break inside a block.
            ...splitLines(text).map((line) => ({ ...textBlock(line), spacing: 'none' })),
            { ...textBlock(summarise(message)), isSubtle: true, size: 'small' },
          ],
          ...(url !== undefined && { actions: [{ type: 'Action.OpenUrl', title: 'Open', url }] }),
        },
      },
    ],
  };
}

/** Teams answers 200 also if it posts nothing: "Webhook message delivery failed with error: … returned HTTP error 429 …". */
export function findTeamsFault(body: string): string | undefined {
  if (!/\b(?:failed|failure|error|exception)\b/i.test(body)) return undefined;
  return `teams-${/\bHTTP error (\d{3})\b/i.exec(body)?.[1] ?? 'failed'}`;
}

function textBlock(text: string): object {
  return { type: 'TextBlock', text: toPlain(text), wrap: true };
}

function splitLines(text: string): readonly string[] {
  const lines = shorten(text, textCharacters).split('\n');
  const shown = lines.length > textLines ? [...lines.slice(0, textLines - 1), '…'] : lines;
  // An empty block has no height.
  return text === '' ? [] : shown.map((line) => line || ' ');
}

/** Disarms links, and escapes the Markdown that cards know: emphasis, links, and list markers at the start of a line. */
function toPlain(text: string): string {
  return escapeMarkdown(disarm(text))
    .replace(/^(\s*)([-+])/, '$1\\$2')
    .replace(/^(\s*\d+)([.)])/, '$1\\$2');
}

function colourOf(message: Message): string {
  if (endsIncident(message)) return 'good';
  switch (message.severity) {
    case 'critical':
      return 'attention';
    case 'warning':
      return 'warning';
    case 'info':
      return 'default';
  }
}
