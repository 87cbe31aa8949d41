import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { metricsPortAfter } from '../../scripts/services/port.ts'

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
/** The settings that the service knows, by their names in its source. */
const known = new Set([...read('config/env.ts').matchAll(/'([A-Z][A-Z0-9_]{2,})'/g)].map(([, name]) => name))

type Service = { command?: string[]; environment?: Record<string, string> }

describe('Files to deploy by', () => {
  const processes = new Map(
    read('Procfile')
      .trim()
      .split('\n')
      .map((line) => {
        const [, name = '', queues = null, file = ''] = /^(\w+): (?:WORKER_QUEUES=(\S+) )?node (\S+)$/.exec(line) ?? []
        return [name, { queues, file }] as const
      }),
  )

  it('start the same processes by the Procfile and by compose', () => {
    const { services } = parse(read('compose.yml'), { merge: true }) as { services: Record<string, Service> }
    const image = /^CMD \["node", "([^"]+)"\]$/m.exec(read('Dockerfile'))?.[1] ?? ''
    for (const [name, { queues, file }] of processes) {
      const service = services[name]
      expect(service?.command?.[1] ?? image, name).to.equal(file)
      expect(service?.environment?.['WORKER_QUEUES'] ?? null, name).to.equal(queues)
      expect(
        existsSync(new URL(`../../${file.replace(/^dist/, '.').replace(/js$/, 'ts')}`, import.meta.url)),
        file,
      ).to.equal(true)
    }
    expect(Object.keys(services).filter((name) => !processes.has(name))).to.deep.equal(['postgres', 'redis'])
  })

  it('give no process a password of the database, and no command one that it would take for its own', () => {
    const text = read('compose.yml')
    const { services } = parse(text, { merge: true }) as { services: Record<string, Service> }
    const secrets = [...new Set([...text.matchAll(/\$\{([A-Z_]+):\?\}/g)].map(([, name = '']) => name))]
    expect(secrets).to.have.length(3)
    const commands = ['scripts/tenant-create.ts', 'scripts/superuser-create.ts', 'config/env.ts'].map(read).join('\n')
    for (const name of secrets) expect(commands, name).to.not.match(new RegExp(`\\b${name}\\b`))
    for (const name of processes.keys())
      for (const secret of [...secrets, ...(name === 'release' ? [] : ['DATABASE_OWNER_URL'])])
        expect(services[name]?.environment?.[secret], `${secret} of ${name}`).to.equal('')
  })

  it('name settings that there are, and every one that production cannot do without', () => {
    const named = [...read('.env.example').matchAll(/^(# )?([A-Z][A-Z0-9_]+)=/gm)]
    expect(named.map(([, , name = '']) => name).filter((name) => !known.has(name))).to.deep.equal([])
    const needed = [
      'DATABASE_URL',
      'DATABASE_OWNER_URL',
      'REDIS_URL',
      'PASETO_KEYS',
      'TOKEN_KEY',
      'INDEX_KEY',
      'DATA_KEY',
      'PEPPERS',
    ]
    expect(named.filter(([, comment]) => comment === undefined).map(([, , name]) => name)).to.include.members(needed)
  })

  it('give each process of a start a metrics port of its own, from the one that is named', () => {
    expect([1, 2, 3].map((place) => metricsPortAfter('9500', place).METRICS_PORT)).to.deep.equal([
      '9501',
      '9502',
      '9503',
    ])
    for (const named of [undefined, '', '0']) expect(metricsPortAfter(named, 1)).to.deep.equal({})
    const start = read('scripts/start.ts')
    for (const file of ['relay', 'scheduler', 'main'])
      expect(start.indexOf(`'workers/${file}.js'`), file).to.be.within(
        start.indexOf('...['),
        start.indexOf('.map(besideApi)'),
      )
  })

  it('show every token of the sandbox gateway among the test cards', () => {
    const source = read('workers/gateways/sandbox-plan.ts')
    const part = (from: string, to: string) => source.slice(source.indexOf(from), source.indexOf(to))
    const tokens = [
      ...part('const known', 'export const declineOf').matchAll(/'([a-z_]+)'/g),
      ...part('const declines', 'const known').matchAll(/^ {2}([a-z_]+): \{/gm),
    ].map(([, token = '']) => token)
    const page = read('docs/integrators/test-cards.md')
    expect(tokens.length).to.be.greaterThan(15)
    expect(tokens.filter((token) => !page.includes(`| \`${token}\` |`))).to.deep.equal([])
  })
})
