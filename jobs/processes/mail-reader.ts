import { runLimited } from '../../src/cases/mails/limited-process.js';

/** The process that reads verdict e-mails. It needs nothing but their bytes, and may be killed at any moment. */
void runLimited(new URL(import.meta.url), async () =>
  (await import('../../src/cases/mails/mail-process.js')).openMailReader(),
);
