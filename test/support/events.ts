import { writeFileSync } from 'node:fs'
import type { Knex } from 'knex'
import { events } from '../../config/events/all.ts'
import { compile } from '../../config/validator.ts'
import { sql } from '../../db/lib/connection.ts'
import type { EventRow } from '../../db/rows.ts'

/** Rows that a test writes as an earlier release wrote them bear this in place of a request. */
export const earlierRelease = 'an earlier release'

type Written = Pick<EventRow, 'type'> & {
  entity: { type: string; id: string; version: number | null }
  changed: { field: string; before: unknown; after: unknown }[]
  data: unknown
}

const known = new Map(events.map((event) => [event.type, event]))
const mostCharacters = 8_192
const isScalar = (value: unknown) =>
  value === null || ['number', 'boolean'].includes(typeof value) || (typeof value === 'string' && value.length <= 200)

const problemsOf = ({ type, entity, changed, data }: Written): string[] => {
  const event = known.get(type)
  if (!event) return ['is no event of config/events']
  const length = JSON.stringify(data).length
  return [
    ...(entity.type === event.entity ? [] : [`is about ${entity.type}, not ${event.entity}`]),
    ...(compile(event.data)(data) ?? []).map(({ field, message }) => `${field} ${message}`),
    ...(length > mostCharacters ? [`is ${length} characters long`] : []),
    ...changed
      .filter(({ before, after }) => !isScalar(before) || !isScalar(after))
      .map(({ field }) => `tells too much of ${field}`),
    ...(changed.length > 50 ? [`tells of ${changed.length} fields`] : []),
  ]
}

const raised = new Set<string>()
const { TEST_EVENTS: raisedFile } = process.env
if (raisedFile !== undefined) process.once('exit', () => writeFileSync(raisedFile, JSON.stringify([...raised])))

/** Throws where an event of a database is not what its value declares: every test that writes one checks it. */
export const checkEvents = async (admin: Knex): Promise<void> => {
  const rows = await sql<Written>(
    admin,
    `select type, entity, changed, data from event where request_id is distinct from ? order by occurred_at`,
    [earlierRelease],
  )
  for (const { type } of rows) raised.add(type)
  const wrong = rows.flatMap((row) =>
    problemsOf(row).map((problem) => `${row.type} ${problem}: ${JSON.stringify(row.data)}`),
  )
  if (wrong.length > 0)
    throw new Error(`${wrong.length} events are not what they should be, among them\n${wrong.slice(0, 10).join('\n')}`)
}
