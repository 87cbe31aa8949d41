import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { inPlatform, lastly, openDatabase, prepared, preparedOne, sql } from '../../db/lib/connection.ts'
import { mostKept } from '../../db/lib/prepared.ts'
import { useDatabase } from '../support/database.ts'

describe('statements that run all the time', () => {
  const held = useDatabase()
  afterEach(() => {
    settings.databasePrepare = true
  })

  const text = `select cast(:number as int) + 1 as next_number, (cast(:list as int[]))[1] as first_of`
  // Whatever else the process asks of its connection meanwhile.
  const kept = `select name from pg_prepared_statements where statement ~ 'next_number|as said' and statement !~ 'pg_prepared'`

  it('are planned once per connection, whatever they bind, and answer the same', async () => {
    const one = await openDatabase(settings.databaseUrl, 1)
    for (const number of [1, 2, 3])
      expect(await inPlatform((trx) => preparedOne(trx, text, { number, list: [number * 2] }))).to.deep.equal({
        nextNumber: number + 1,
        firstOf: number * 2,
      })
    await inPlatform((trx) => prepared(trx, `select ?::text as said`, ['another']))
    expect(await sql(one, kept)).to.have.lengthOf(2)
  })

  it('are sent whole where a pooler knows of no plans', async () => {
    settings.databasePrepare = false
    const one = await openDatabase(settings.databaseUrl, 1)
    const first = { text, bindings: { number: 7, list: [4] } }
    const answers = await inPlatform(
      async (trx, rows) => {
        lastly(trx, first)
        return [...rows, await preparedOne(trx, first.text, first.bindings)]
      },
      {},
      { first },
    )
    expect(answers).to.deep.equal([1, 2].map(() => ({ nextNumber: 8, firstOf: 4 })))
    expect(await sql(one, kept)).to.deep.equal([])
  })

  it('keep their plan where it looks for a few keys', async () => {
    const { admin } = held.database
    await admin.raw(
      `create table keyed as select gen_random_uuid() as id, n as night from generate_series(1, 20000) as n`,
    )
    await admin.raw(`create index on keyed (id)`)
    await admin.raw(`grant select on keyed to pousada_service`)
    await admin.raw(`analyze keyed`)
    const texts = [
      `select night as as_found from keyed where id = any(?::uuid[])`,
      `select night as as_found from keyed where id = any(cast(? as uuid[]))`,
      `select night as as_found from keyed join unnest(?::uuid[]) as x (id) using (id)`,
      `select night as as_found from keyed where (id, night) in (select * from unnest(?::uuid[], ?::int[]))`,
    ]
    const one = await openDatabase(settings.databaseUrl, 1)
    const found = await sql<{ id: string; night: number }>(one, `select * from keyed limit 1`)
    const [ids, nights] = [found.map(({ id }) => id), found.map(({ night }) => night)]
    const ask = (text: string) =>
      inPlatform((trx) => prepared(trx, text, text.includes('int[]') ? [ids, nights] : [ids]))
    for (const text of texts)
      for (let n = 0; n < 9; n += 1) expect(await ask(text)).to.deep.equal([{ asFound: nights[0] }])
    const plans = `select generic_plans::int as kept from pg_prepared_statements where statement ~ 'as_found' and statement !~ 'pg_prepared'`
    expect(await sql(one, plans)).to.deep.equal(texts.map(() => ({ kept: 4 })))
  })

  it('are so many at most on a connection, and those that ran longest ago give way', async () => {
    const one = await openDatabase(settings.databaseUrl, 1)
    const ask = (numbers: readonly number[]) =>
      inPlatform((trx) => Promise.all(numbers.map((n) => prepared(trx, `select ${n} + ?::int as as_said`, [1]))))
    const heldNow = async () => (await sql<{ name: string }>(one, `select name from pg_prepared_statements`)).length
    const numbers = Array.from({ length: 1_000 }, (_, index) => index)
    for (let at = 0; at < numbers.length; at += 50) {
      expect(await ask(numbers.slice(at, at + 50))).to.deep.equal(
        numbers.slice(at, at + 50).map((n) => [{ asSaid: n + 1 }]),
      )
      expect(await heldNow()).to.be.at.most(mostKept)
    }
    expect(await heldNow()).to.equal(mostKept)
    // A statement that was given up is planned anew. A question that fails forgets nothing that PostgreSQL still has.
    const failing = inPlatform((trx) =>
      Promise.all([
        prepared(trx, `select 1 / ?::int as as_said`, [0]),
        prepared(trx, `select 3 as as_said where ?`, [true]),
      ]),
    )
    expect(await failing.catch(() => 'failed')).to.equal('failed')
    for (const at of [0, 500, 990, 0]) expect(await ask([at])).to.deep.equal([[{ asSaid: at + 1 }]])
    expect(await heldNow()).to.be.at.most(mostKept)
  })
})
