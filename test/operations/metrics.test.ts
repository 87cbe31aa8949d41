import { expect } from 'chai'
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { registry } from '../../config/metrics.ts'
import { freshDatabase, leaveDatabase } from '../support/database.ts'
import { startProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'

const checkout = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, checkout), 'utf8')

/** A metric that the code can export: its name, kind and labels. */
type Metric = { name: string; type: string; labels: string[] }

const exported = async (): Promise<Metric[]> => {
  for (const folder of ['config', 'db', 'api', 'workers'])
    for (const file of readdirSync(fileURLToPath(new URL(folder, checkout)), { recursive: true, encoding: 'utf8' }))
      if (file.endsWith('.ts') && read(`${folder}/${file}`).includes(`from 'prom-client'`))
        await import(new URL(`${folder}/${file}`, checkout).href)
  return registry.getMetricsAsArray().map((metric) => ({
    name: (metric as unknown as Metric).name,
    // prom-client keeps what it was made with, under these names.
    type: metric.constructor.name.toLowerCase(),
    labels: (metric as unknown as { labelNames: string[] }).labelNames.filter((label) => label !== 'le'),
  }))
}

type Rule = {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string; runbook: string }
}
const rules = (parse(read('docs/operations/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
)
const panels = (
  JSON.parse(read('docs/operations/grafana.json')) as {
    panels: { title: string; targets?: { expr: string; legendFormat: string }[] }[]
  }
).panels
const charted = panels.flatMap((panel) => panel.targets ?? []).map((target) => target.expr)

const words = new Set(['by', 'on', 'and', 'or', 'unless', 'bool', 'ignoring', 'without', 'offset'])
const known = new Set(['instance', 'job', 'le'])

/** Metrics and labels that an expression of PromQL names. */
const named = (expr: string) => {
  const labels = new Set<string>()
  const grouped = expr.replaceAll(/\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g, (_, list: string) => {
    for (const label of list.split(',')) labels.add(label.trim())
    return ' '
  })
  const metrics = new Set<string>()
  const selected = grouped.replaceAll(/([a-z_]+)?\{([^}]*)\}/g, (_, name: string, selector: string) => {
    for (const [, label = ''] of selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)) labels.add(label)
    return `${name} `
  })
  for (const [, word = ''] of selected
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .matchAll(/(?<![\w.$"])([a-z_][a-z0-9_]*)\b(?!\s*\()/g))
    if (!words.has(word)) metrics.add(word)
  return { metrics: [...metrics], labels: [...labels] }
}

/** The rows of the tables in metrics.md. */
const documented = (): Metric[] =>
  [...read('docs/operations/metrics.md').matchAll(/^\| `(\w+)` \| (\w+) \|([^|]*)\|/gm)].map(
    ([, name = '', type = '', labels = '']) => ({
      name,
      type,
      labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
    }),
  )

describe('metrics, alerts, dashboard and runbook', () => {
  let metrics: Metric[]
  let own: Metric[]
  before(async () => {
    metrics = await exported()
    own = metrics.filter(({ name }) => !/^(?:process_(?!es)|nodejs_)/.test(name))
  })

  const byName = (name: string): Metric | undefined =>
    metrics.find((metric) => metric.name === name && metric.type !== 'histogram') ??
    metrics.find((metric) => metric.type === 'histogram' && name.replace(/_(?:bucket|count|sum)$/, '') === metric.name)

  it('every metric of the code stands in metrics.md with its type and labels, and none beside', () => {
    const order = (list: Metric[]) =>
      list.map(({ name, type, labels }) => `${name} ${type} ${[...labels].sort().join(',')}`).sort()
    expect(order(documented())).to.deep.equal(order(own))
  })

  it('every alert and every chart names metrics and labels that exist', () => {
    for (const expr of [...rules.map((rule) => rule.expr), ...charted]) {
      const { metrics: names, labels } = named(expr)
      expect(names, expr).not.to.deep.equal([])
      const found = names.filter((name) => name !== 'up').map((name) => byName(name) ?? expect.fail(`${name}: ${expr}`))
      for (const label of labels)
        expect(known.has(label) || found.some((metric) => metric.labels.includes(label)), `${label}: ${expr}`).to.equal(
          true,
        )
      for (const name of names) {
        const bare = byName(name)?.type === 'histogram' && byName(name)?.name === name
        expect(bare, `${name} is a histogram: ${expr}`).to.equal(false)
      }
    }
  })

  it('every metric is watched by an alert or shown by a chart', () => {
    const used = new Set(
      [...rules.map((rule) => rule.expr), ...charted]
        .flatMap((expr) => named(expr).metrics)
        .map((name) => byName(name)?.name),
    )
    expect(own.map(({ name }) => name).filter((name) => !used.has(name))).to.deep.equal([])
  })

  it('no label may hold what is without bounds', () => {
    for (const { name, labels } of own)
      expect(
        labels.filter((label) => /id$|tenant|user|address|account|key$|path|email|worker|host/i.test(label)),
        name,
      ).to.deep.equal([])
  })

  it('every alert says what to do: one section of the runbook each, and no other', () => {
    const sections = [...read('docs/operations/runbook.md').matchAll(/^### (.+)\n\n(.+)/gm)]
    expect(sections.map(([, title = '']) => title).sort()).to.deep.equal(rules.map((rule) => rule.alert).sort())
    for (const [, title = '', text = ''] of sections) expect(text.length, title).to.be.greaterThan(60)
    for (const { alert, annotations, labels } of rules) {
      expect(annotations.runbook).to.equal(`docs/operations/runbook.md#${alert.toLowerCase()}`)
      expect(annotations.summary, alert).to.be.a('string')
      expect(['page', 'ticket']).to.include(labels.severity)
    }
  })

  it('charts have a legend where an expression answers several series', () => {
    for (const { title, targets = [] } of panels)
      for (const { expr, legendFormat } of targets) {
        const [, label] = /^(?:sum|max|topk\(10, histogram_quantile\([^,]+, sum) by \((\w+)/.exec(expr) ?? []
        if (label !== undefined && label !== 'le') expect(legendFormat, title).to.include('{{')
      }
  })
})

describe('the metrics of real processes', () => {
  const running: RunningProcess[] = []
  before(freshDatabase)
  after(async () => {
    await Promise.all(running.map((each) => each.stop()))
    await leaveDatabase()
  })

  const scrape = async ({ metricsUrl }: RunningProcess) => {
    const reply = await fetch(`${metricsUrl}/metrics`)
    expect(reply.status).to.equal(200)
    expect(reply.headers.get('content-type')).to.include('text/plain')
    return reply.text()
  }

  it('are there from the first scrape on, of the api, the relay and a worker, with no id in them', async () => {
    const [api, relay, worker] = await Promise.all([
      startProcess('api'),
      startProcess('relay'),
      startProcess('workers', { WORKER_QUEUES: 'ledger:3' }),
    ])
    running.push(api, relay, worker)
    await fetch(`${api.baseUrl}/api/public/properties/6f1c2b54-3a5e-4f6a-9d0e-0a2f4b5c6d7e`)
    const text = await until(
      async () => {
        const found = await scrape(relay)
        return /^queue_concurrency\{queue="ledger"\} 3$/m.test(found) && found
      },
      { withinMs: 30_000, what: 'the measure of the relay' },
    )
    expect(text).to.match(/^processes_alive\{process="worker"\} 1$/m)
    expect(text).to.match(/^processes_alive\{process="scheduler"\} 0$/m)
    expect(text).to.match(/^relay_cycle_seconds_count [1-9]/m)
    const texts = [await scrape(api), text, await scrape(worker)]
    expect(texts[0]).to.match(/^http_requests_total\{route="[\w.]+",status="404"\} 1$/m)
    expect(texts[0]).to.match(/^redis_available 1$/m)
    for (const path of ['/metrics', '/metrics/', '/api/metrics'])
      expect((await fetch(`${api.baseUrl}${path}`)).status, `${path} on the public port`).to.equal(404)
    expect(await (await fetch(`${api.baseUrl}/readyz`)).json()).to.have.all.keys('status')
    const ready = (await (await fetch(`${api.metricsUrl}/readyz`)).json()) as { checks: { name: string }[] }
    expect(ready).to.include({ postgres: 'ok', redis: 'ok' })
    expect(ready.checks.map(({ name }) => name)).to.include('workers')
    for (const each of texts) {
      expect(each).to.match(/^nodejs_eventloop_lag_p99_seconds /m)
      expect(each).to.match(/^postgres_pool_wait_seconds_count\{outcome="had"\} [1-9]/m)
      expect(each).not.to.match(/[0-9a-f]{8}-[0-9a-f]{4}-/)
    }
    for (const { name } of documented())
      expect(
        texts.some((each) => each.includes(`# TYPE ${name} `)),
        name,
      ).to.equal(true)
  })
})
