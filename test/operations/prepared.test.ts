import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { inPlatform, lastly, openDatabase, prepared, preparedOne, sql } from '../../db/lib/connection.ts'
import { mostKept } from '../../db/lib/prepared.ts'
import { useDatabase } from '../support/database.ts'

describe('statements that run all the time', () => {
  useDatabase()
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

  it('are so many at most on a connection, and those that ran longest ago give way', async () => {
    const one = await openDatabase(settings.databaseUrl, 1)
    const ask = (numbers: readonly number[]) =>
      inPlatform((trx) => Promise.all(numbers.map((n) => prepared(trx, `select ${n} + ?::int as as_said`, [1]))))
    const held = async () => (await sql<{ name: string }>(one, `select name from pg_prepared_statements`)).length
    const numbers = Array.from({ length: 1_000 }, (_, index) => index)
    for (let at = 0; at < numbers.length; at += 50) {
      expect(await ask(numbers.slice(at, at + 50))).to.deep.equal(
        numbers.slice(at, at + 50).map((n) => [{ asSaid: n + 1 }]),
      )
      expect(await held()).to.be.at.most(mostKept)
    }
    expect(await held()).to.equal(mostKept)
    // A statement that was given up is planned anew. A question that fails forgets nothing that PostgreSQL still has.
    const failing = inPlatform((trx) =>
      Promise.all([
        prepared(trx, `select 1 / ?::int as as_said`, [0]),
        prepared(trx, `select 3 as as_said where ?`, [true]),
      ]),
    )
    expect(await failing.catch(() => 'failed')).to.equal('failed')
    for (const at of [0, 500, 990, 0]) expect(await ask([at])).to.deep.equal([[{ asSaid: at + 1 }]])
    expect(await held()).to.be.at.most(mostKept)
  })
})
