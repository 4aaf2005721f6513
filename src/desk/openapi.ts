import * as z from 'zod';
import { roles } from '../access/roles.js';
import { html } from '../text/html.js';
import { type DeskRoute, definePage, type Page } from './routing/route.js';
import { signInPath, signOutPath } from './signing-in/sign-in-page.js';

interface DescribeOptions {
  readonly routes: () => readonly DeskRoute[];
  /** This program's. */
  readonly version: string;
}

/** The description of all routes for programs, as OpenAPI 3.1; people get a list of them. */
export function createOpenApiPage({ routes, version }: DescribeOptions): Page {
  return definePage({
    path: '/openapi.json',
    permission: 'look',
    summary: 'This description',
    input: z.object({}),
    data: z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
    usually: 'data',
    read: async () => describeRoutes(routes(), version),
    render: () => ({
      title: 'Data for programs',
      content: html`<p>Each page is also data: ask for it with <code>Accept: application/json</code>. The schemas are at this address, in the same way.</p>
<div class="wide" tabindex="0"><table><thead><tr><th scope="col">Path</th><th scope="col">What it is</th><th scope="col">Permission</th></tr></thead>
<tbody>${routes().map(
        ({ path, summary, permission }) =>
          html`<tr><th scope="row"><code>${path}</code></th><td>${summary}</td><td>${permission}</td></tr>`,
      )}</tbody></table></div>`,
    }),
  });
}

export function describeRoutes(routes: readonly DeskRoute[], version: string) {
  return {
    openapi: '3.1.0',
    info: { title: 'Booked-hotel review', version },
    components: {
      schemas: { Error: toSchema(errorBody, 'output') },
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'the cookie of /sign-in' } },
    },
    security: [{ session: [] }],
    paths: {
      ...Object.fromEntries(routes.map((route) => [toTemplate(route.path), describe(route)])),
      ...describeSigningIn(),
    },
  };
}

const errorBody = z.object({ error: z.object({ class: z.string(), message: z.string() }) });
const preview = z.looseObject({
  title: z.string().exactOptional(),
  reason: z
    .object({ label: z.string(), isRequired: z.boolean() })
    .exactOptional()
    .describe('What the field `reason` is, where it is not just a reason.'),
  lines: z.array(z.string()),
  refusal: z.string().exactOptional().describe('Why it cannot be done now.'),
  button: z.string(),
  back: z.string(),
  token: z.string().nullable().describe('To send with the form.'),
});
const done = z.object({ message: z.string(), next: z.string() });

function describe(route: DeskRoute): object {
  const { permission, summary } = route;
  const shared = {
    summary,
    description: `Needs the permission ${permission}.`,
    parameters: listParameters(route),
  };
  switch (route.kind) {
    case 'page':
      return { get: { ...shared, responses: answersOf('application/json', toSchema(route.data, 'output')) } };
    case 'action':
      return {
        get: {
          ...shared,
          summary: `${summary}: the preview`,
          responses: answersOf('application/json', toSchema(preview, 'output')),
        },
        post: {
          ...shared,
          requestBody: bodyOf(formOf(route)),
          responses: answersOf('application/json', toSchema(done, 'output')),
        },
      };
    case 'download':
      return { get: { ...shared, responses: answersOf(route.contentType, { type: 'string' }) } };
    case 'live':
      return { get: { ...shared, responses: answersOf('text/event-stream', { type: 'string' }) } };
  }
}

/** The routes for signing in and out, which are not in the table of routes. */
function describeSigningIn(): object {
  const to = z.string().optional().describe('The path of the page to continue at.');
  const credentials = z.object({ name: z.string(), password: z.string(), to });
  const signedIn = z.object({ name: z.string(), role: z.enum(roles) });
  return {
    [signInPath]: {
      get: {
        summary: 'The form to sign in, for people',
        security: [],
        parameters: [{ name: 'to', in: 'query', required: false, schema: toSchema(to, 'input') }],
        responses: { ...answersOf('text/html', { type: 'string' }), 303: redirection('Signed in already.') },
      },
      post: {
        summary: 'Sign in',
        description: 'The answer sets the cookie of the session.',
        security: [],
        requestBody: bodyOf(credentials),
        responses: {
          ...answersOf('application/json', toSchema(signedIn, 'output')),
          303: redirection('Signed in, for browsers.'),
        },
      },
    },
    [signOutPath]: {
      post: {
        summary: 'Sign out',
        description: 'The answer removes the cookie of the session.',
        requestBody: bodyOf(z.object({ token: z.string() })),
        responses: { 303: redirection('The session has ended.'), '4XX': refused },
      },
    },
  };
}

function bodyOf(form: z.ZodType): object {
  const schema = toSchema(form, 'input');
  return { required: true, content: { 'application/x-www-form-urlencoded': { schema } } };
}

function redirection(description: string): object {
  return { description, headers: { location: { schema: { type: 'string' } } } };
}

const refused = {
  description: 'Refused, and why.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};

function formOf({ form, reason }: Extract<DeskRoute, { readonly kind: 'action' }>): z.ZodType {
  const why = z.string().max(500);
  return form.extend({ token: z.string(), reason: reason === 'required' ? why : why.optional() });
}

function answersOf(contentType: string, schema: object) {
  return {
    200: { description: 'Done.', content: { [contentType]: { schema } } },
    '4XX': refused,
    '5XX': refused,
  };
}

function listParameters({ path, input }: DeskRoute): object[] {
  const { properties = {}, required = [] } = toSchema(input, 'input') as {
    properties?: Record<string, object>;
    required?: string[];
  };
  const inPath = new Set([...path.matchAll(/:(\w+)/g)].map(([, name]) => name));
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: inPath.has(name) ? 'path' : 'query',
    required: inPath.has(name) || required.includes(name),
    schema,
  }));
}

function toTemplate(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

function toSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
}
