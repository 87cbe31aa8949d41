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
  'payment',
  'reservations',
  'channels',
  'reports',
  'night-audit',
  'admin',
  'auth',
] as const

/** How many folders a file of a module stands below it: a resource may have a folder of its own, within one of a part. */
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
  lib: 'the platform of the record knows no module',
}

const folders = (depth: Depth, names: readonly string[]) => `${up(depth)}(${names.join('|')})/`
// Any name but index.ts: the linter's expressions have no look-ahead.
const behindFace = '([^i]|i[^n]|in[^d]|ind[^e]|inde[^x]|index[^.])'

type Pattern = { regex: string; message: string } | { group: string[]; message: string }

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
  const pure = {
    regex: '/lib/(connection|transaction|outbox|prepared|records|paging|enqueue|events)\\.ts$',
    message: message.pure,
  }
  return [
    ...depths.map((depth) => ({
      files: filesAt(name, depth),
      rules: restricted(patternsAt(depth)),
    })),
    { files: [`db/${name}/rules/*.ts`], rules: restricted([...patternsAt(2), pure]) },
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
