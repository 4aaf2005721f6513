import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isCalendarDay } from '../../booking/business-day.js';
import { type FileRefusal, refuse } from './file-answer.js';

/** A review file that is there, and where its result belongs. */
export interface ReviewPath {
  readonly kind: 'found';
  /** On this disk. */
  readonly input: string;
  readonly result: string;
  /** As the SFTP server's clients name them, without a leading slash. */
  readonly inputName: string;
  readonly resultName: string;
}

const form = 'VerifyMappings/MMYYYY/DDMMYYYY.csv';
const reviewFile = /^\/?(VerifyMappings\/(\d{2})(\d{4})\/(\d{2})(\d{2})(\d{4}))\.csv$/;
const longestEcho = 200;

/**
 * Finds the file that a call names: a path relative to the SFTP root, where one leading slash does no harm. Nothing
 * outside of the root is ever looked at, nor what a symbolic link leads to.
 */
export async function findReviewFile(
  root: string,
  ftpFilePath: string | undefined,
): Promise<ReviewPath | FileRefusal> {
  if (ftpFilePath === undefined || ftpFilePath.trim() === '') {
    return refuse('path-missing', 'ftpFilePath is missing: expected the path of the uploaded file');
  }
  const told = JSON.stringify(ftpFilePath.slice(0, longestEcho));
  const [, name, folderMonth, folderYear, dayOfMonth, month, year] = reviewFile.exec(ftpFilePath) ?? [];
  if (name === undefined) {
    return refuse('bad-request', `ftpFilePath: expected ${form}, relative to the SFTP root, got: ${told}`);
  }
  if (!isCalendarDay(`${year}-${month}-${dayOfMonth}`) || folderMonth !== month || folderYear !== year) {
    return refuse(
      'bad-request',
      `ftpFilePath: expected a calendar day in the folder of its month, got: ${told}`,
    );
  }
  const inputName = `${name}.csv`;
  const resultName = `${name}_Result.csv`;
  const realRoot = await realpath(root);
  const input = join(realRoot, inputName);
  if (!(await isPlainFile(input))) {
    return refuse('bad-request', `ftpFilePath: there is no file ${told} on the SFTP server`);
  }
  return { kind: 'found', input, result: join(realRoot, resultName), inputName, resultName };
}

/** True for a file that lies where its path says, by way of no link. */
async function isPlainFile(path: string): Promise<boolean> {
  try {
    return (await realpath(path)) === path && (await stat(path)).isFile();
  } catch (error) {
    if (error instanceof Error && 'code' in error && absences.includes(error.code)) return false;
    throw error;
  }
}

const absences: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'ELOOP'];
