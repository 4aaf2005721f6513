import { Validator } from '@seriousme/openapi-schema-validator';
import { afterEach, expect, it } from 'vitest';
import { listRoutes } from '../../src/desk/desk.js';
import { getData, getPage, otherParts, runsOnly, startDesk, stopServers } from './some-desk.js';

afterEach(stopServers);

interface SpecData {
  readonly paths: Readonly<Record<string, { readonly get?: { readonly parameters: readonly unknown[] } }>>;
}

it('The description of the routes is valid OpenAPI, and names each of them', async () => {
  const ledger = runsOnly([]);
  const { url } = await startDesk({ ledger });
  const data = (await getData(url, '/openapi.json')).data as SpecData;
  const result = await new Validator().validate({ ...data });
  expect(result).toEqual({ valid: true });
  const described = Object.keys(data.paths).map((path) => path.replace(/\{(\w+)\}/g, ':$1'));
  const routes = listRoutes({ ...otherParts, ledger });
  expect(described.sort()).toEqual([...routes.map(({ path }) => path), '/sign-in', '/sign-out'].sort());
  expect(data.paths['/days/{day}']?.get?.parameters.slice(0, 1)).toMatchObject([
    { name: 'day', in: 'path', required: true, schema: { type: 'string', format: 'date' } },
  ]);
});

it('For people it is a list of addresses and permissions', async () => {
  const { url } = await startDesk({ ledger: runsOnly([]) });
  const { text } = await getPage(url, '/openapi.json');
  expect(text).toContain('<code>/days/:day</code>');
});
