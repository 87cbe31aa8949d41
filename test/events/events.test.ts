import { expect } from 'chai'
import { readFileSync, readdirSync } from 'node:fs'
import { events } from '../../config/events/all.ts'
import type { Event } from '../../config/events/event.ts'
import { builtInAutomations } from '../../config/message-texts/texts.ts'
import { subjectFacts } from '../../config/subjects.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const filesOf = (folder: string) =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file}`)

/** Names under which events are exported, by their types. */
const names = new Map(
  filesOf('config/events').flatMap((file) =>
    [...read(file).matchAll(/export const (\w+) = event\(\{\s*type: '([^']+)'/g)].map(([, name = '', type = '']) => [
      type,
      name,
    ]),
  ),
)

/** The events that modules/webhooks.md lists, by type: the fields of their data. */
const contract = new Map(
  read('test/events/contract.tsv')
    .trim()
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [types = '', fields = ''] = line.split('\t')
      const [common = '', ...more] = fields.split('; ')
      const namesIn = (text: string) => text.replace(/: [^,]*(\[\{[^}]*\}\]|\{[^}]*\}.*)/, '').split(', ')
      let entity = ''
      return types.split(', ').map((given): [string, string[]] => {
        entity = given.startsWith('.') ? entity : (given.split('.')[0] ?? '')
        const verb = given.slice(given.indexOf('.') + 1)
        const extra = more
          .map((part) => part.split(': '))
          .filter(([verbs = '']) => verbs.split(', ').includes(verb))
          .flatMap(([, list = '']) => list.split(', '))
        return [`${entity}.${verb}`, [...namesIn(common), ...extra]]
      })
    }),
)

/** Types that the contract does not list, with the type whose data they carry. */
const more: Readonly<Record<string, string>> = {
  // A folio is renamed and given to another payer, and no type of the contract says so.
  'folio.changed': 'folio.opened',
}

type Json = Readonly<Record<string, unknown>>
const json = (event: Event) => JSON.parse(JSON.stringify(event.data)) as Json
const parts = (schema: Json): Json[] => [
  schema,
  ...[schema.items, ...((schema.anyOf as unknown[] | undefined) ?? []), ...Object.values(schema.properties ?? {})]
    .filter((inside) => inside !== undefined)
    .flatMap((inside) => parts(inside as Json)),
]

/** The greatest length of JSON of a schema. */
const longest = (schema: Json): number => {
  if (Array.isArray(schema.anyOf)) return Math.max(...(schema.anyOf as Json[]).map(longest))
  if (Array.isArray(schema.enum)) return Math.max(...schema.enum.map((value) => JSON.stringify(value).length))
  switch (schema.type) {
    case 'object':
      return Object.entries((schema.properties ?? {}) as Record<string, Json>).reduce(
        (sum, [name, inside]) => sum + name.length + 4 + longest(inside),
        2,
      )
    case 'array':
      return 2 + Number(schema.maxItems) * (1 + longest(schema.items as Json))
    case 'string':
      return 2 + Number(schema.maxLength)
    case 'integer':
      return Math.max(String(schema.minimum).length, String(schema.maximum).length)
    case 'boolean':
      return 5
    case 'null':
      return 4
    default:
      throw new Error(`nothing is known of ${JSON.stringify(schema)}`)
  }
}

/** `unknown` stands for what became known to be so: payment.outcome_unknown is the contract's own. */
const participle = /(^|_)([a-z]+ed|held|sent|paid|read|made|won|lost|found|broken|written|oversold|run|unknown)(_|$)/
const personal = /name|email|phone|address|document|text|note|message|birth|description|label|title|url|ip$/i
/** Texts of the house or of a channel that are no code: what they call a unit, a pool, a booking. */
const ownWords = new Set(['unit.name', 'unit_pool.name', 'channel_booking.externalId'])

describe('the events', () => {
  it('are listed, each once, under the name of its type', () => {
    expect(events.map(({ type }) => type)).to.have.members([...names.keys()])
    expect(new Set(events.map(({ type }) => type)).size).to.equal(events.length)
    for (const [type, name] of names)
      expect(name).to.equal(type.replace(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase()))
  })

  /** A rule that each event keeps; the first that breaks it is named. */
  const each = (rule: string, keeps: (event: Event) => void) =>
    it(rule, () => {
      for (const event of events)
        try {
          keeps(event)
        } catch (error) {
          throw new Error(`${event.type}: ${(error as Error).message}`, { cause: error })
        }
    })

  each('say in snake case what happened to what', ({ type, entity }) => {
    expect(type).to.match(/^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/)
    expect(entity).to.match(/^[a-z]+(_[a-z]+)*$/)
    expect(type.split('.')[1]).to.match(participle)
  })

  each('belong to a subject that people of the tenant may read', ({ subject }) => {
    expect(subjectFacts(subject).reach).to.equal('tenant')
    expect(subjectFacts(subject).actions).to.include('read')
  })

  each('carry the data of the contract', (event) => {
    const { type } = event
    const fields = contract.get(more[type] ?? type)
    expect(fields, 'is not in the contract').not.to.equal(undefined)
    expect(Object.keys(json(event).properties as object)).to.have.members(fields ?? [])
    // A reader finds each of them, null where there is none.
    expect(json(event).required).to.have.members(Object.keys(json(event).properties as object))
  })

  it('are all that the contract lists', () => {
    expect([...contract.keys()].filter((type) => !names.has(type))).to.deep.equal([])
    expect(Object.keys(more).filter((type) => contract.has(type) || !names.has(type))).to.deep.equal([])
  })

  each('are bounded in all their parts, and by 8 kB', (event) => {
    for (const part of parts(json(event))) {
      if (part.type === 'string') expect(part.enum ?? part.maxLength, JSON.stringify(part)).not.to.equal(undefined)
      if (part.type === 'array') expect(part.maxItems).to.be.at.most(200)
      if (part.type === 'object') expect(part.additionalProperties).to.equal(false)
    }
    expect(longest(json(event))).to.be.at.most(8_192)
  })

  each('tell ids, numbers, codes, dates and amounts, and no words about people', (event) => {
    const { type } = event
    for (const part of parts(json(event)))
      for (const [field, given] of Object.entries((part.properties ?? {}) as Record<string, Json>)) {
        if (ownWords.has(`${type.split('.')[0]}.${field}`)) continue
        if (!/Ids?$/.test(field)) expect(field).not.to.match(personal)
        for (const inside of parts(given).filter((each) => each.type === 'string'))
          expect(inside.enum ?? inside.format ?? inside.pattern, `${field} takes any words`).not.to.equal(undefined)
      }
  })

  each('are heard once by each listener', (event) => {
    const { listeners } = event
    expect(new Set(listeners).size).to.equal(listeners.length)
    if (event.isHeard) expect(listeners).not.to.deep.equal([])
  })

  it('are each raised by a command', () => {
    const commands = filesOf('db')
      .filter((file) => !file.startsWith('db/migrations/'))
      .map((file) => read(file).replaceAll(/^import [^;]*? from '[^']+'$/gms, ''))
      .join('\n')
    expect([...names].filter(([, name]) => !new RegExp(`\\b${name}\\b`).test(commands))).to.deep.equal([])
  })

  it('are written by emit and emitAll alone', () => {
    const writers = ['api', 'db', 'workers'].flatMap(filesOf).filter((file) => /\binsert into event\b/.test(read(file)))
    expect(writers).to.deep.equal(['db/lib/events.ts'])
  })

  it('that an automation of every tenant waits for are heard by the messages', () => {
    const heard = new Set(events.filter(({ listeners }) => listeners.includes('ocp')).map(({ type }) => type))
    const awaited = builtInAutomations.flatMap(({ trigger }) => ('event' in trigger ? [trigger.event] : []))
    expect(awaited.length).to.be.above(0)
    expect(awaited.filter((type) => !heard.has(type))).to.deep.equal([])
  })
})
