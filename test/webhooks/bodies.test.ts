import { expect } from 'chai'
import { events } from '../../config/events/all.ts'
import { compile } from '../../config/validator.ts'
import { sql } from '../../db/lib/connection.ts'
import { readBodies, sampleBody, sampleData } from '../../scripts/bodies.ts'
import { useDatabase } from '../support/database.ts'

describe('the bytes of a delivery', () => {
  const held = useDatabase()
  const pinned = readBodies()

  it('are pinned for every type (npm run openapi adds new ones)', () => {
    expect([...pinned.keys()].sort()).to.deep.equal(events.map(({ type }) => type).sort())
    for (const event of events) expect(sampleBody(event), event.type).to.equal(pinned.get(event.type))
  })

  it('are of samples that the types take', () => {
    for (const event of events) {
      const isData = compile(event.data)
      expect(isData(sampleData(event)), event.type).to.equal(null)
    }
  })

  it('have their data in the order that the database keeps', async () => {
    const data = events.map(sampleData)
    const stored = await sql<{ data: unknown }>(
      held.database.admin,
      `select e.data from jsonb_array_elements(?::jsonb) with ordinality as e (data, n) order by n`,
      [JSON.stringify(data)],
    )
    expect(stored.map((row) => JSON.stringify(row.data))).to.deep.equal(data.map((one) => JSON.stringify(one)))
  })
})
