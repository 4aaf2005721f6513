import { describe, expect, it } from 'vitest';
import { projectFile } from '../support/compose-file.js';

const page = projectFile('docs/service.md');

/** Spec 4.6, repeated here on purpose. */
const knownByName = [
  'Get Master Hotel Facilities | GET',
  'Get Master Hotel Chains | GET',
  'Get Master Property Types | GET',
  'Get All Master Countries | GET',
  'Get All Service IDs | GET',
  'Get New Mappings | GET',
  'Get Updated Mappings | GET',
  'Get Deleted Mappings | GET',
  'Get Mapping Statistics | GET',
  'Get Mapping Counts | GET',
  'Get Provider Hotel Mappings by Provider ID | POST',
  'Get Provider Hotel Mappings by Service ID | GET',
  'Start Mapping by SFTP Folder | GET',
  'Get Mapping History by Run ID | POST',
];

describe('docs/service.md', () => {
  it('lists what the contract only names, and makes nothing up', () => {
    const listed = [...page.matchAll(/^\| (.+) \| not specified \|$/gm)].map(([, operation]) => operation);
    expect(listed).toEqual(knownByName);
  });

  it('names existing settings', () => {
    const shown = page.split('## What the contract does not show')[1]?.split('\n## ')[0] ?? '';
    const settings = [...shown.matchAll(/`([a-z]\w+(?:\.\w+)+)`/g)]
      .map(([, setting = '']) => setting)
      .filter((setting) => !setting.endsWith('.md'));
    expect(settings.length).toBeGreaterThan(8);
    const known = projectFile('docs/configuration.md');
    for (const setting of settings) expect(known).toContain(`| \`${setting}\` |`);
  });

  it('is linked from the README', () => {
    expect(projectFile('README.md')).toContain('(docs/service.md)');
  });
});
