import { writeFileSync } from 'node:fs'

/**
 * Modules of `db`, lowest first. A module imports lower ones only, through their `index.ts`; the edges import nothing but an `index.ts`
 * either. `.oxlintrc.layers.json` makes the linter hold that; `npm run layers` writes it.
 */
export const modules = [
  'jobs',
  'financial',
  'units',
  'guests',
  'ocp',
  'properties',
  'documents',
  'cash',
  'payment',
  'reservations',
  'channels',
  'accounts-receivable',
  'accounts-payable',
  'inventory',
  'issues',
  'reports',
  'night-audit',
  'webhooks',
  'admin',
  'auth',
] as const

/** The numbers of folders that a file of a module may stand below it: a resource may have a folder of its own, within one of a part. */
const depths = [1, 2, 3] as const
type Depth = (typeof depths)[number]
/** The way from a file to `db`. */
const up = (depth: Depth) => `^(\\.\\./){${depth}}`
const filesAt = (folder: string, depth: Depth) => [`db/${folder}/${'*/'.repeat(depth - 1)}*.ts`]
const top = '(demo/|register\\.ts|migrate\\.ts)'
const message = {
  db: 'db imports config and jobs alone',
  edges: 'api and workers never import each other: what passes between them is rows and jobs',
  top: 'only processes and scripts start from here',
  order: 'a module imports lower ones only: the order stands in docs/ARCHITECTURE.md',
  face: 'another module is used through its index.ts alone',
  pure: 'rules are pure: no connection, no transaction, no statement',
  rules: 'rules take types from elsewhere, and values from rules alone: a face leads to statements',
  lib: 'the platform of the record knows no module',
}

const folders = (depth: Depth, names: readonly string[]) => `${up(depth)}(${names.join('|')})/`
/** Any name that begins with none of the words, of which no two begin alike: the linter's expressions have no look-ahead. */
const anyBut = (...words: readonly string[]) =>
  `([^${words.map((word) => word[0]).join('')}]|${words
    .flatMap((word) =>
      word
        .split('')
        .slice(1)
        .map((letter, at) => `${word.slice(0, at + 1)}[^${letter}]`),
    )
    .join('|')})`
const behindFace = anyBut('index.')
const behindRules = anyBut('index.', 'rules/')

type Pattern = ({ regex: string } | { group: string[] }) & { message: string; allowTypeImports?: true }

const restrictions = (paths: string[], patterns: Pattern[]) => ({
  'no-restricted-imports': ['error', { paths, patterns }],
})

const restricted = (patterns: Pattern[]) =>
  restrictions(
    ['koa', 'bullmq', '@koa/router', 'koa-body'],
    [{ group: ['**/api/**', '**/workers/**', '**/scripts/**', '**/test/**'], message: message.db }, ...patterns],
  )

const ofEdge = (files: string[], paths: string[], other: string) => ({
  files,
  rules: restrictions(paths, [
    { group: [`**/${other}/**`, '**/scripts/**', '**/test/**'], message: message.edges },
    { regex: `^(\\.\\./)+db/(${modules.join('|')})/${behindFace}`, message: message.face },
  ]),
})

const ofModule = (name: (typeof modules)[number]) => {
  const at = modules.indexOf(name)
  const lower = modules.slice(0, at)
  const higher = modules.slice(at + 1)
  const patternsAt = (depth: Depth) =>
    [
      { regex: up(depth) + top, message: message.top },
      { regex: folders(depth, higher), message: message.order },
      { regex: folders(depth, lower) + behindFace, message: message.face },
    ].filter(({ regex }) => !regex.includes('()'))
  const ofRules: Pattern[] = [
    { regex: up(2) + top, message: message.top },
    { regex: folders(2, higher), message: message.order },
    { regex: folders(2, lower) + behindRules, message: message.face },
    { regex: `${folders(2, lower)}${anyBut('rules/')}`, message: message.rules, allowTypeImports: true as const },
    { regex: '^\\.\\./[^.]', message: message.rules, allowTypeImports: true as const },
    {
      regex:
        '/lib/(connection|transaction|outbox|prepared|records|lists|paging|enqueue|events|due|sets|locked-property)\\.ts$',
      message: message.pure,
    },
  ].filter(({ regex }) => !regex.includes('()'))
  return [
    ...depths.map((depth) => ({
      files: filesAt(name, depth),
      rules: restricted(patternsAt(depth)),
    })),
    { files: [`db/${name}/rules/*.ts`], rules: restricted(ofRules) },
  ]
}

/** The linter's configuration of the layers of `db`, as text. */
export const generateLayers = (): string => {
  const overrides = [
    ...depths.map((depth) => ({
      files: filesAt('lib', depth),
      rules: restricted([
        { regex: folders(depth, modules), message: message.lib },
        { regex: up(depth) + top, message: message.top },
      ]),
    })),
    ...modules.flatMap(ofModule),
    ofEdge(['api/**'], ['bullmq', 'nodemailer', 'twilio'], 'workers'),
    // The Bull Board dashboard is the one place of the API that may import BullMQ.
    ofEdge(['api/admin/dashboard.ts'], [], 'workers'),
    ofEdge(['workers/**'], ['koa', '@koa/router', 'koa-body'], 'api'),
  ]
  return `${JSON.stringify({ overrides }, null, 2)}\n`
}

if (import.meta.filename === process.argv[1])
  writeFileSync(new URL('../.oxlintrc.layers.json', import.meta.url), generateLayers())
