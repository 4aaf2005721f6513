import { variables } from '../answers/secrets.js';
import type { BucketAnswers } from '../answers/source-answers.js';
import { writeGroup, writeOptionalReference, writeReference, writeSetting } from './setting-lines.js';

/** The group `s3`: how the bucket of a day's files is reached. */
export function renderBucket({ endpoint, region, hasKey }: BucketAnswers): string[] {
  const s3 = ['s3'] as const;
  const head = writeGroup(s3);
  const settings = [
    ...(endpoint === undefined ? [] : writeSetting([...s3, 'endpoint'], endpoint)),
    ...(region === undefined ? [] : writeSetting([...s3, 'region'], region)),
    ...(hasKey
      ? [
          ...writeReference([...s3, 'accessKeyId'], variables.s3KeyId),
          ...writeReference([...s3, 'secretAccessKey'], variables.s3Secret),
        ]
      : [
          ...writeOptionalReference([...s3, 'accessKeyId'], variables.s3KeyId),
          ...writeOptionalReference([...s3, 'secretAccessKey'], variables.s3Secret),
        ]),
  ];
  return [...head, ...settings];
}
