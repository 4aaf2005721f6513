import { runLimited } from '../../src/cases/mails/limited-process.js';
import { answerMails } from '../../src/cases/mails/mail-process.js';

/** The process that reads verdict e-mails. It needs nothing but their bytes, and may be killed at any moment. */
runLimited(new URL(import.meta.url), answerMails);
