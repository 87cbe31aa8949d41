import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import {
  inPlatform,
  later,
  openDatabase,
  platformRows,
  prepared,
  preparedOne,
  sql,
  sqlOne,
} from '../../db/lib/connection.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import { readPage, where } from '../../db/lib/paging.ts'
import { useDatabase } from '../support/database.ts'
import { roundTrips } from '../support/trips.ts'

describe('statements that a transaction sends together', () => {
  const held = useDatabase()
  before(async () => {
    await sql(held.database.admin, `create table line (text text primary key, at int)`)
    await sql(held.database.admin, `grant all on line to pousada_service`)
    await openDatabase(settings.databaseUrl, 1)
  })
  afterEach(async () => {
    settings.databasePrepare = true
    await sql(held.database.admin, `delete from line`)
  })
  const write = `insert into line (text) values (?)`
  const lines = async () =>
    (await sql<{ text: string }>(held.database.admin, `select text from line order by text`)).map((row) => row.text)
  const count = (trx: PlatformTrx) => preparedOne<{ lines: number }>(trx, `select count(*) as lines from line`)
  const messageOf = (ended: Promise<unknown>) => ended.then(String, (error: unknown) => (error as Error).message)

  for (const keeps of [true, false])
    it(`are one round trip with the beginning, and one with the end; each sees those before it; plans kept: ${keeps}`, async () => {
      settings.databasePrepare = keeps
      const seen: unknown[] = []
      const run = (text: string) =>
        inPlatform(async (trx) => {
          later(trx, write, [`${text} a`])
          seen.push(
            ...(await Promise.all([count(trx), prepared(trx, `${write} returning text`, [`${text} b`]), count(trx)])),
          )
          later(trx, write, [`${text} c`])
        })
      await run('one')
      // Others of this process may ask in between, so the least of some counts.
      const trips = [await roundTrips(() => run('two'))]
      for (const text of ['x', 'y', 'z']) trips.push(await roundTrips(() => run(text)))
      expect(Math.min(...trips), JSON.stringify(trips)).to.equal(2)
      expect(seen.slice(0, 6)).to.deep.equal([
        { lines: 1 },
        [{ text: 'one b' }],
        { lines: 2 },
        { lines: 4 },
        [{ text: 'two b' }],
        { lines: 5 },
      ])
      expect((await lines()).slice(0, 6)).to.deep.equal(['one a', 'one b', 'one c', 'two a', 'two b', 'two c'])
    })

  it('a single one is one round trip with beginning and end; one that fails leaves nothing behind', async () => {
    const write = (text: string | null) =>
      platformRows({ text: `insert into line (text) values (?) returning text`, bindings: [text] })
    const seen: unknown[] = []
    const once = (text: string) => roundTrips(async () => void seen.push(await write(text)))
    // Connections are made by the first ones, in round trips of their own; later ones find them open.
    const texts = ['a', 'b', 'c', 'd']
    const trips: number[] = []
    for (const text of texts) trips.push(await once(text))
    expect(Math.min(...trips), JSON.stringify(trips)).to.equal(1)
    expect(seen).to.deep.equal(texts.map((text) => [{ text }]))
    expect(await messageOf(write(null))).to.match(/null value in column "text"/)
    await write('e')
    expect(await lines()).to.deep.equal([...texts, 'e'])
  })

  it('one that fails is told to who waits, by its own name; those before it have their rows, and nothing is written', async () => {
    const said: string[] = []
    const ended = inPlatform(async (trx) => {
      const [before, wrong, after] = [count(trx), prepared(trx, write, [null]), count(trx)].map((asked) =>
        asked.then(
          () => 'answered',
          (error: Error) => error.message,
        ),
      )
      later(trx, write, ['a'])
      said.push((await before)!, (await wrong)!, (await after)!)
    })
    expect(await messageOf(ended)).to.match(/null value in column "text"/)
    expect(said[0]).to.equal('answered')
    for (const text of said.slice(1)) expect(text).to.match(/^insert into line .* null value in column "text"/)
    expect(await lines()).to.deep.equal([])
  })

  for (const goes of ['with the next question', 'with the commit'])
    it(`one that nobody waits for says by itself what its error means, when it goes ${goes}`, async () => {
      await sql(held.database.admin, write, ['there'])
      let committed = false
      const ended = inPlatform(async (trx) => {
        later(trx, write, ['new'])
        later(trx, write, ['there'], (error) =>
          (error as { constraint?: string }).constraint === 'line_pkey' ? new Error('it is there already') : undefined,
        )
        if (goes === 'with the next question') await count(trx)
      }).then(() => (committed = true))
      expect(await messageOf(ended)).to.equal('it is there already')
      expect([committed, await lines()]).to.deep.equal([false, ['there']])
      expect(await inPlatform(count)).to.deep.equal({ lines: 1 })
    })

  it('an error that was passed over ends the transaction, whatever is asked for after it', async () => {
    const ended = inPlatform(async (trx) => {
      later(trx, write, ['a'])
      later(trx, write, ['a'])
      await count(trx).catch(() => null)
      later(trx, write, ['b'])
    })
    expect(await messageOf(ended)).to.match(/duplicate key/)
    expect(await lines()).to.deep.equal([])
  })

  it('what is taken back to a savepoint is not sent after it, and what comes then is', async () => {
    await inPlatform(async (trx) => {
      later(trx, write, ['kept'])
      await sql(trx, `savepoint part`)
      later(trx, write, ['wrong'])
      later(trx, write, ['wrong'])
      await count(trx).catch(() => null)
      await sql(trx, `rollback to savepoint part`)
      later(trx, write, ['dropped'])
      await sql(trx, `rollback to savepoint part`)
      later(trx, write, ['then'])
      expect(await sqlOne(trx, `select count(*) as lines from line where text <> ?`, [''])).to.deep.equal({ lines: 2 })
    })
    expect(await lines()).to.deep.equal(['kept', 'then'])
  })

  it('a transaction that asks for nothing, or fails before it has asked, leaves its connection as it was', async () => {
    expect(await inPlatform(() => Promise.resolve(1))).to.equal(1)
    const failing = inPlatform((trx) => {
      later(trx, write, ['never'])
      return Promise.reject(new Error('no'))
    })
    expect(await messageOf(failing)).to.equal('no')
    expect(await lines()).to.deep.equal([])
    expect(await inPlatform(count)).to.deep.equal({ lines: 0 })
  })

  it('values arrive as they are: bytes, lists with anything in them, instants and objects', async () => {
    const text = `select ?::bytea as bytes, ?::text[] as words, ?::timestamptz as at, ?::jsonb as object, ?::bytea[] as many`
    const values = [
      Buffer.from([0, 255, 39, 92]),
      [`o'x, "y"`, '{}', null, 'NULL', 'a ? b \\? $1'],
      new Date('2026-03-01T10:00:00.123Z'),
      { a: ['?', `'`] },
      [Buffer.from('ü'), null],
    ]
    const [bytes, words, at, object, many] = values
    for (let n = 0; n < 2; n += 1)
      expect(await inPlatform((trx) => preparedOne(trx, text, values))).to.deep.equal({
        bytes,
        words,
        at,
        object,
        many,
      })
  })

  for (const from of [undefined, 'b'])
    it(`a page and its number are one of them, ${from === undefined ? 'also where nothing is asked for' : 'with what was asked for'}`, async () => {
      for (const text of ['a', 'b', 'c', 'd']) await sql(held.database.admin, write, [text])
      const conditions = where('text >= ?', from)
      const read = () =>
        inPlatform((trx) =>
          readPage(trx, { columns: 'text', from: 'line', conditions, order: 'text' }, { page: 2, limit: 2 }),
        )
      expect(await read()).to.deep.equal(
        from === undefined ? { total: 4, rows: [{ text: 'c' }, { text: 'd' }] } : { total: 3, rows: [{ text: 'd' }] },
      )
      // The other round trip is the commit. A connection that the pool has just opened takes more for its first transaction.
      const trips = [await roundTrips(read), await roundTrips(read), await roundTrips(read)]
      expect(Math.min(...trips)).to.equal(2)
    })
})
