import fc from 'fast-check'

/** Texts that have broken something somewhere: blank, beyond a bound, of another script, of another language of computers. */
export const texts = [
  '',
  ' ',
  '\t\n',
  'null',
  'NaN',
  'Infinity',
  '-1',
  '0',
  '1.5',
  '1e3',
  '0x10',
  '9007199254740992',
  '99999999999999999999',
  'true',
  '[]',
  '👩‍👩‍👧‍👦🏳️‍🌈',
  'مرحبا\u202E\u2066',
  'é'.normalize('NFC'),
  'é'.normalize('NFD'),
  '\u0000',
  'a\u0000b',
  '\uD800',
  '\uDFFFx',
  '\uFEFF',
  "' or 1=1; --",
  "'); drop table booking; --",
  '%',
  '_',
  '\\',
  '%_%\\',
  '${x}{{x}}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'toString',
  'a'.repeat(300),
  'ß'.repeat(5_000),
  '4111 1111 1111 1111',
  '2026-02-30',
  '2026-13-01',
  '1899-12-31',
  '2201-01-01',
  '2026-2-3',
  '2026-11-20T12:00:00',
  '2026-11-20T25:00:00Z',
  '2026-11-20T12:00:00+99:99',
  '+2026-11-20',
  '-000001-01-01',
  '00000000-0000-0000-0000-000000000000',
  'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
  '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}',
  '127.0.0.1',
  'https://evil.example/',
]

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])

/** Values of every other kind. */
export const things: unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e21,
  -1e308,
  Number.MAX_SAFE_INTEGER + 1,
  2 ** 31,
  2 ** 63,
  [],
  [[]],
  [null],
  {},
  { toString: 1, hasOwnProperty: 2, valueOf: 3 },
  { length: 1e9 },
  nested(12),
  Array.from({ length: 200 }, (_, index) => index),
]

/** Bodies that are no JSON of the kind that the edge takes; whatever the endpoint, 400. */
export const brokenBodies: (string | Buffer)[] = [
  ' ',
  '[',
  '{',
  '{"a":}',
  'null',
  '42',
  '"text"',
  '{"a":1,"a":2}',
  '{"a":1e999}',
  '{"a":"\\ud800"}',
  '{"a":"\\u0000"}',
  '{"\\u0000":1}',
  '{"a":1}{"b":2}',
  `{"a":${'['.repeat(25)}${']'.repeat(25)}}`,
  '{"__proto__":{"polluted":1}}',
  '{"a":{"constructor":{"prototype":{"polluted":1}}}}',
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
]

const latin1 = '\u00e9\u00ff\u00a0'
const jsonTypes = ['application/json', 'APPLICATION/JSON; charset=UTF-8']

const garbage: Record<string, string[]> = {
  'idempotency-key': ['a', '', ' ', 'x'.repeat(255), 'x'.repeat(256), 'with space', latin1, '"quoted"', "'; --"],
  'if-match': ['*', '"1"', '"2"', '"999999999999999"', '"9999999999999999999"', '1', 'W/"1"', '""', '"-1"', latin1],
  'x-request-id': ['abcdefgh', 'short', 'x'.repeat(65), 'a b c d e f', '../../etc', latin1],
  accept: ['*/*', 'text/html', '', 'application/xml;q=0.1', 'x'.repeat(2_000)],
  'accept-language': ['pt-BR', '*', 'x'.repeat(2_000)],
  cookie: ['a=b', '__Host-pousada=x.y', ';;;', `a=${'b'.repeat(5_000)}`],
  'x-forwarded-for': ['1.2.3.4', 'not an address', ','.repeat(500), '::1%eth0', '256.1.1.1'],
  'x-client-ip': ['203.0.113.9', '::', 'nonsense', '0x7f.1', `${'9'.repeat(400)}`, latin1],
  'x-guest-token': ['', 'v4.public.', 'v4.public.AAAA.e30', 'x'.repeat(3_000)],
  'user-agent': ['', 'x'.repeat(3_000), latin1, '\t'],
  traceparent: ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '00-x-y-z', 'x'.repeat(500)],
  origin: ['null', 'https://evil.example', latin1],
  'content-type': [...jsonTypes, 'text/plain', 'application/json; charset=latin1', 'multipart/form-data', latin1],
  'content-encoding': ['gzip', 'identity'],
  'x-http-method-override': ['DELETE'],
  'access-control-request-method': ['DELETE', latin1],
  'sandbox-signature': ['t=1,v1=', 'x'.repeat(500)],
}

/** A header or two that a browser would not send; most requests have none. */
export const headersOf: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc
      .array(
        fc
          .constantFrom(...Object.keys(garbage))
          .chain((name) => fc.constantFrom(...(garbage[name] ?? [])).map((value) => [name, value] as const)),
        { minLength: 1, maxLength: 2 },
      )
      .map((pairs) => Object.fromEntries(pairs)),
  },
)

/** Ways to send a credential wrongly. */
export const spoiltCredentials = (token: string): Record<string, string>[] => [
  { authorization: '' },
  { authorization: 'Bearer' },
  { authorization: `Bearer ${token} x` },
  { authorization: `bearer   ${token}` },
  { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` },
  { authorization: `Bearer ${token.slice(0, -1)}` },
  { authorization: `Bearer ${token}`, 'x-api-key': 'pou_test_x' },
  { authorization: `Bearer ${'x'.repeat(3_000)}` },
  { authorization: 'Bearer v4.public.__proto__.eyJraWQiOiJfX3Byb3RvX18ifQ' },
  { 'x-api-key': '' },
  { 'x-api-key': `pou_test_${'0'.repeat(57)}` },
  { 'x-api-key': '\u00e9' },
  { 'x-guest-token': token },
]
