import type { HotelDirectory } from '../world/world.js';
import { type EmailForm, emailForms, renderNotice } from './forms.js';
import { createMailer, type MailerOptions } from './mailer.js';
import type { Notice } from './notice.js';

/** Holds the e-mails about reviews that the service would have sent. */
export interface Outbox {
  /**
   * Writes an e-mail as an `.eml` file, complete or not at all. Concurrent calls don't disturb each other.
   *
   * @returns its path
   * @throws a system error when the folder can't be written
   */
  notify(notice: Notice): Promise<string>;
}

export interface OutboxOptions extends MailerOptions {
  readonly to: string;
  readonly world: HotelDirectory;
  /** `list` by default. */
  readonly form?: EmailForms | undefined;
}

/** One form, or all in turn. */
export type EmailForms = EmailForm | 'turns';

export function createOutbox({ to, world, form = 'list', ...options }: OutboxOptions): Outbox {
  const mailer = createMailer(options);
  let written = 0;

  function nextForm(): EmailForm {
    if (form !== 'turns') return form;
    written += 1;
    return emailForms[(written - 1) % emailForms.length] as EmailForm;
  }

  return {
    notify: ({ about, incorrect, count = incorrect.length }) =>
      mailer.post({
        to,
        subject: `Incorrect hotel mappings: ${count === 1 ? '1 booking is' : `${count} bookings are`} affected`,
        // Data of bookings goes into the content only, so it can't inject headers.
        ...renderNotice(nextForm(), { about, incorrect, count }, world),
      }),
  };
}
