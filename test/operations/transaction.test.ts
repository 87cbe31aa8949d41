import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { database, inPlatform, later, openDatabase, preparedOne, sql } from '../../db/lib/connection.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import { useDatabase } from '../support/database.ts'

/** Everything on one connection, so that what a transaction left behind on it shows in the next one. */
describe('a transaction, which is not of knex', () => {
  const held = useDatabase()
  before(async () => {
    await sql(held.database.admin, `create table line (text text primary key)`)
    await sql(held.database.admin, `grant all on line to pousada_service`)
  })
  beforeEach(() => openDatabase(settings.databaseUrl, 1))
  afterEach(() => sql(held.database.admin, `delete from line`))
  const write = `insert into line (text) values (?)`
  const lines = async () =>
    (await sql<{ text: string }>(held.database.admin, `select text from line order by text`)).map((row) => row.text)
  const one = (trx: PlatformTrx) => preparedOne<{ one: number }>(trx, `select ?::int as one`, [1])
  const messageOf = (ended: Promise<unknown>) => ended.then(String, (error: unknown) => (error as Error).message)
  /** The scope that a transaction left open leaves to the next user of its connection. */
  const left = async () => {
    await sql(database(), `select 1`)
    const [found] = await sql<{ scope: string | null }>(
      database(),
      `select current_setting('app.scope', true) as scope`,
    )
    return found?.scope || null
  }

  it('a connection on which a transaction may be open is nobody’s any more; what went wrong is told all the same', async () => {
    const { client } = database() as unknown as { client: { query: (...given: unknown[]) => Promise<unknown> } }
    const { query } = client
    client.query = (...given) =>
      given[1] === 'ROLLBACK' ? Promise.reject(new Error('no answer')) : query.apply(client, given)
    const ended = inPlatform(async (trx) => {
      later(trx, write, ['a'])
      await one(trx)
      throw new Error('given up')
    })
    expect(await messageOf(ended)).to.equal('given up')
    client.query = query
    expect([await left(), await lines()]).to.deep.equal([null, []])
  })

  it('a connection that answers no more is closed, though it was asked for something', async function () {
    this.timeout(20_000)
    const streams: { destroyed: boolean }[] = []
    type Held = { connection: { stream: { destroyed: boolean } } }
    const ended = inPlatform(async (trx) => {
      await one(trx)
      const { client } = trx as unknown as { client: { acquireConnection: () => Promise<Held> } }
      streams.push((await client.acquireConnection()).connection.stream)
      sql(trx, `select pg_sleep(?)`, [60]).catch(() => {})
      await new Promise(setImmediate)
      throw new Error('given up')
    })
    expect(await messageOf(ended)).to.equal('given up')
    await inPlatform((trx) => one(trx))
    expect(streams.map(({ destroyed }) => destroyed)).to.deep.equal([true])
  })

  it('nothing that goes with a beginning that failed runs', async () => {
    await inPlatform((trx) => one(trx))
    // As behind a pooler that gives the connection another session: what was planned is unknown there.
    await sql(database(), `deallocate all`)
    const ended = inPlatform((trx) => {
      later(trx, `insert into line (text) select ?`, ['a'])
      return one(trx)
    })
    expect(await messageOf(ended)).to.match(/begin - prepared statement .* does not exist/)
    expect(await lines()).to.deep.equal([])
  })

  it('what builders and models ask goes in its turn among the rest', async () => {
    await inPlatform(async (trx) => {
      later(trx, write, ['a'])
      expect(await trx('line').count({ lines: '*' })).to.deep.equal([{ lines: 1 }])
      const [built, asked] = await Promise.all([trx('line').insert({ text: 'b' }).returning('text'), one(trx)])
      expect([built, asked]).to.deep.equal([[{ text: 'b' }], { one: 1 }])
      later(trx, write, ['c'])
    })
    expect(await lines()).to.deep.equal(['a', 'b', 'c'])
  })

  it('who listens to the pool hears all of a transaction, also once a builder has asked in it', async () => {
    const heard: string[] = []
    const note = ({ sql: text }: { sql: string }) => heard.push(text.split(' ')[0]!)
    database().on('query', note)
    await inPlatform(async (trx) => {
      await one(trx)
      await trx('line').insert({ text: 'a' })
      later(trx, write, ['b'])
    })
    database().off('query', note)
    expect(heard.filter((word) => word !== 'discard')).to.deep.equal([
      'begin',
      'select',
      'select',
      'insert',
      'insert',
      'commit',
    ])
  })

  it('a text of its own that has yet to go is not sent after what it was asked in was taken back', async () => {
    const told: string[] = []
    const ended = inPlatform(async (trx) => {
      sql(trx, `insert into line (text) values ('late')`).catch((error: Error) => told.push(error.message))
      return Promise.reject(new Error('given up'))
    })
    expect(await messageOf(ended)).to.equal('given up')
    expect([await left(), await lines()]).to.deep.equal([null, []])
    expect(told).to.deep.equal(['what this was asked in was taken back'])
  })
})
