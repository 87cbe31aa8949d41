import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build, isBuilt } from './build.ts'
import { readable, say } from './lines.ts'
import { embeddedPostgres, embeddedRedis, keepPorts, readPorts } from './services/embedded.ts'
import type { Embedded } from './services/embedded.ts'
import { givenPostgres } from './services/given.ts'
import { commandOf, endGroup } from './services/guard.ts'
import { developmentKeys } from './services/keys.ts'
import { freePort, metricsPortAfter } from './services/port.ts'
import { redisBinary } from './services/redis.ts'
import { supervise } from './supervise.ts'
import type { Program, Supervised } from './supervise.ts'

const checkout = fileURLToPath(new URL('../', import.meta.url))
const directory = process.env.POUSADA_DATA_DIR ?? join(checkout, '.data')
const production = process.env.NODE_ENV === 'production'
const lockFile = join(directory, 'start.json')
const tell = (line: string) => say('start', line)
const run = promisify(execFile)

type Lock = { pid: number; children: number[] }

const refuseOldNode = () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19))
    throw new Error(`Node ${process.versions.node} is too old; 20.19 or newer is needed`)
}

/** One start at a time in a data directory; what a killed one left running is ended. */
const takeLock = async () => {
  mkdirSync(directory, { recursive: true })
  if (existsSync(lockFile)) {
    const { pid, children } = JSON.parse(readFileSync(lockFile, 'utf8')) as Lock
    if (pid !== process.pid && commandOf(pid).includes('scripts/start'))
      throw new Error(`npm start is already running here, as process ${pid}`)
    await Promise.all(children.map(endGroup))
  }
  writeLock([])
}

let holdsLock = false

const writeLock = (children: number[]) => {
  holdsLock = true
  writeFileSync(lockFile, JSON.stringify({ pid: process.pid, children } satisfies Lock))
}

const program = (name: string, file: string, environment: NodeJS.ProcessEnv): Program => ({
  name,
  file: join(checkout, 'dist', file),
  environment,
})

/** The metrics port that is named is the api's; the others take the next ones. */
const besideApi = (each: Program, index: number): Program => ({
  ...each,
  environment: { ...each.environment, ...metricsPortAfter(process.env.METRICS_PORT, index + 1) },
})

/** A script that ends: its lines are shown, and what it says last is answered. */
const once = async ({ name, file, environment }: Program): Promise<void> => {
  try {
    const { stdout, stderr } = await run(process.execPath, ['--enable-source-maps', file], {
      env: environment,
      cwd: checkout,
    })
    for (const line of `${stdout}${stderr}`.trim().split('\n').filter(Boolean)) say(name, readable(line))
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    for (const line of `${stdout}${stderr}`.trim().split('\n')) say(name, readable(line))
    throw new Error(`${name} failed`, { cause: error })
  }
}

const isReady = async (url: string) => {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(1_000) })).ok
  } catch {
    return false
  }
}

const untilReady = async (url: string) => {
  while (!(await isReady(url))) await wait(50)
}

type Demo = {
  password: string
  users: { email: string; role: string }[]
  sol: { tenantId: string; propertyId: string; apiKey: string }
  lua: { tenantId: string; propertyId: string; apiKey: string }
}

const welcome = (baseUrl: string, mailUrl: string | null, seconds: string) => {
  const file = join(directory, 'demo.json')
  const lines = [
    `ready after ${seconds} s`,
    '',
    `operations ${baseUrl}/superuser/ops`,
    `reference  ${baseUrl}/api/docs`,
    ...(mailUrl ? [`mailbox    ${mailUrl}`] : []),
    `Redis      ${baseUrl}/superuser/dashboard`,
    `API        ${baseUrl}/api`,
    `all pages  ${baseUrl}/`,
  ]
  if (!production && existsSync(file)) {
    const demo = JSON.parse(readFileSync(file, 'utf8')) as Demo
    const full = {
      ...demo,
      baseUrl,
      mailUrl,
      docsUrl: `${baseUrl}/api/docs`,
      dashboardUrl: `${baseUrl}/superuser/dashboard`,
    }
    writeFileSync(file, `${JSON.stringify(full, null, 2)}\n`, { mode: 0o600 })
    lines.push('', `demo sign-ins, password ${demo.password}:`)
    for (const { email, role } of demo.users) lines.push(`  ${email.padEnd(26)}${role}`)
    lines.push(`API keys:  Sol ${demo.sol.apiKey}`, `           Lua ${demo.lua.apiKey}`, `all of it  ${file}`)
    lines.push('', 'try:', `  curl -s ${baseUrl}/api/public/property/${demo.sol.propertyId}/config`)
    lines.push(`  curl -s -H 'X-API-Key: ${demo.sol.apiKey}' ${baseUrl}/api/tenants/${demo.sol.tenantId}/reservations`)
    lines.push('  npm run demo')
  }
  lines.push('', 'Ctrl-C ends everything.')
  for (const line of lines) tell(line)
}

const started = Date.now()
const parts: { stop: () => Promise<void> }[] = []
let ending: Promise<void> | null = null

const end = (code: number): Promise<void> =>
  (ending ??= (async () => {
    tell('ending')
    // The programs first, all at once; then what they stand on.
    const programs = parts.filter((part): part is Supervised => 'line' in part)
    await Promise.all(programs.map((part) => part.stop()))
    await Promise.all(parts.filter((part) => !('line' in part)).map((part) => part.stop()))
    if (holdsLock) rmSync(lockFile, { force: true })
    tell('ended')
    process.exit(code)
  })())

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0))

const services = async (keys: ReturnType<typeof developmentKeys>): Promise<Record<string, string>> => {
  const kept = (begun: Promise<Embedded>): Promise<Record<string, string>> =>
    begun.then((embedded) => {
      parts.push(embedded)
      return embedded.environment
    })
  const { DATABASE_URL, DATABASE_OWNER_URL, REDIS_URL } = process.env
  // The binary of Redis may be missing, so it is looked for before anything runs.
  const binary = REDIS_URL ? '' : redisBinary(tell)
  const [postgres, redis] = await Promise.all([
    DATABASE_URL ? givenPostgres(DATABASE_URL, DATABASE_OWNER_URL) : kept(embeddedPostgres(directory, keys, tell)),
    REDIS_URL ? { REDIS_URL } : kept(embeddedRedis(directory, keys, binary, tell)),
  ])
  return { ...postgres, ...redis, ...(DATABASE_URL || production ? {} : { SUPERUSER_MFA: 'optional' }) }
}

const main = async () => {
  refuseOldNode()
  await takeLock()
  const keys = developmentKeys(directory)
  const building = async () => {
    if (isBuilt({ proves: production })) return
    tell('compiling')
    tell(`compiled in ${((await build({ proves: production })) / 1000).toFixed(1)} s`)
  }
  const serving = services(keys)
  await Promise.all([serving, building()])
  const ports = readPorts(directory)
  const wished = Number(process.env.PORT ?? 0)
  const port = await freePort(wished || (ports.api ?? 3000))
  if (wished && port !== wished) throw new Error(`PORT: ${wished} is in use`)
  const [smtp, mail] = [await freePort(ports.smtp ?? 3025), await freePort(ports.mail ?? 3080)]
  keepPorts(directory, { api: port, smtp, mail })
  const ownMail = !process.env.SMTP_URL && !production
  const environment: NodeJS.ProcessEnv = {
    NODE_ENV: 'development',
    ...(production ? {} : keys.environment),
    // A developer's own program can take webhooks.
    ...(production ? {} : { ALLOW_PRIVATE_ADDRESSES: 'on' }),
    ...(ownMail ? { SMTP_URL: `smtp://127.0.0.1:${smtp}` } : {}),
    // Where `npm run channel` listens.
    ...(production ? {} : { CHANNEL_SIMULATOR_PORT: '3090' }),
    ...process.env,
    ...(await serving),
    ...(process.env.SUPERUSER_MFA ? { SUPERUSER_MFA: process.env.SUPERUSER_MFA } : {}),
    POUSADA_DATA_DIR: directory,
    PORT: String(port),
    ...(ownMail ? { MAILBOX_URL: `http://127.0.0.1:${mail}` } : {}),
  }
  delete environment.WORKER_QUEUES
  const { DATABASE_OWNER_URL, ...unprivileged } = environment
  await once(program('release', 'scripts/release.js', { ...unprivileged, DATABASE_OWNER_URL }))
  if (!production)
    await once(program('seed', 'scripts/seed.js', { ...unprivileged, LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn' }))

  const background = ['relay', 'scheduler', 'workers']
  const programs = [
    program('api', 'api/main.js', unprivileged),
    ...[
      program('relay', 'workers/relay.js', unprivileged),
      program('scheduler', 'workers/scheduler.js', unprivileged),
      program('workers', 'workers/main.js', {
        ...unprivileged,
        ...(process.env.WORKER_QUEUES ? { WORKER_QUEUES: process.env.WORKER_QUEUES } : {}),
      }),
    ].map(besideApi),
    ...(ownMail
      ? [
          program('mail', 'scripts/mail.js', {
            ...unprivileged,
            MAIL_SMTP_PORT: String(smtp),
            MAIL_HTTP_PORT: String(mail),
          }),
        ]
      : []),
  ]
  if (ending) return
  let running: Supervised[] = []
  const keepPids = () => writeLock(running.map((part) => part.pid() ?? 0))
  let isUp = false
  let deaths = 0
  const hopeless = new Promise<never>((_, reject) => {
    running = programs.map((each) =>
      supervise(each, checkout, () => {
        keepPids()
        deaths += 1
        if (!isUp && deaths === 3) reject(new Error('the service does not start; the lines above say why'))
      }),
    )
  })
  parts.push(...running)
  const ready = running.map(async (part, index) => {
    if (!background.includes(programs[index]?.name ?? '')) return
    const line = await part.line((content) => content.msg === 'started' && typeof content.healthPort === 'number')
    await untilReady(`http://127.0.0.1:${Number(line.healthPort)}/readyz`)
  })
  keepPids()
  const host = process.env.HOST && !['0.0.0.0', '::'].includes(process.env.HOST) ? process.env.HOST : '127.0.0.1'
  const baseUrl = `http://${host}:${port}`
  const mailUrl = ownMail ? `http://127.0.0.1:${mail}` : null
  await Promise.race([hopeless, Promise.all([...ready, untilReady(`${baseUrl}/readyz`)])])
  isUp = true
  if (!ending) welcome(baseUrl, mailUrl, ((Date.now() - started) / 1000).toFixed(1))
}

try {
  await main()
} catch (error) {
  tell(error instanceof Error ? error.message : String(error))
  if (process.env.DEBUG) console.error(error)
  await end(1)
}
