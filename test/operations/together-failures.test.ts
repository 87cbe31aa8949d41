import { expect } from 'chai'
import { setTimeout as wait } from 'node:timers/promises'
import {
  database,
  gather,
  isUnreachable,
  inPlatform,
  later,
  onCommit,
  openDatabase,
  prepared,
  preparedOne,
  sql,
} from '../../db/lib/connection.ts'
import { settings } from '../../config/env.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import { useDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

/** Everything on one connection, so that what a transaction left behind on it shows in the next one. */
describe('statements sent together, when something breaks', () => {
  const held = useDatabase()
  const { now } = Date
  before(async () => {
    await sql(held.database.admin, `create table line (text text primary key, at int)`)
    await sql(held.database.admin, `grant all on line to pousada_service`)
    await sql(
      held.database.admin,
      `create function conflict(boolean) returns void language plpgsql as
       'begin if $1 then raise exception using errcode = ''40001''; end if; end'`,
    )
  })
  beforeEach(() => openDatabase(settings.databaseUrl, 1))
  afterEach(async () => {
    Date.now = now
    await sql(held.database.admin, `delete from line`)
  })
  const write = `insert into line (text) values (?)`
  const lines = async () =>
    (await sql<{ text: string }>(held.database.admin, `select text from line order by text`)).map((row) => row.text)
  const one = (trx: PlatformTrx, text = 'select ?::int as one', values: unknown[] = [1]) =>
    preparedOne<{ one: number }>(trx, text, values)
  const messageOf = (ended: Promise<unknown>) =>
    ended.then(JSON.stringify, (error: unknown) => (error as Error).message)
  /** The scope that a transaction left open leaves to the next user of its connection, and whether their own transaction works. */
  const standing = async () => {
    // A statement that was sent too late goes behind the one that was sent first.
    await sql(database(), `select 1`)
    const [left] = await sql<{ scope: string | null }>(database(), `select current_setting('app.scope', true) as scope`)
    const own = await inPlatform((trx) =>
      one(trx, `select ?::int as one where current_setting('app.scope') = 'platform'`),
    )
    return { left: left?.scope || null, own }
  }
  const sound = { left: null, own: { one: 1 } }
  /** As if what is planned had been so for longer than plans last. */
  const age = async () => {
    await inPlatform((trx) => one(trx))
    Date.now = () => now() + 60_000
  }

  it('what is asked for while plans are thrown away goes in its order, within the transaction', async () => {
    await age()
    const seen = await inPlatform(async (trx) => {
      later(trx, write, ['first'])
      const first = one(trx, `select count(*) as one from line where text = ?`, ['first'])
      await new Promise(setImmediate)
      const second = one(trx, `select count(*) as one from line where text = ?`, ['first'])
      return Promise.all([first, second])
    })
    expect(seen).to.deep.equal([{ one: 1 }, { one: 1 }])
  })

  it('a transaction that is given up while plans are thrown away leaves its connection as it was', async () => {
    await age()
    const given = inPlatform(async (trx) => {
      one(trx).catch(() => {})
      await new Promise<void>((resolve) => process.nextTick(resolve))
      throw new Error('given up')
    })
    expect(await messageOf(given)).to.equal('given up')
    expect(await standing()).to.deep.equal(sound)
  })

  for (const goes of ['asked for', 'written later'])
    it(`a value that cannot be sent is an error of its own, when it is ${goes}`, async () => {
      const circle: Record<string, unknown> = {}
      circle.self = circle
      const ended = inPlatform(async (trx) => {
        later(trx, write, ['a'])
        if (goes === 'asked for') return one(trx, `select ?::jsonb as one`, [circle])
        later(trx, `insert into line (text) select ?::jsonb::text`, [circle])
        return one(trx)
      })
      expect(await messageOf(Promise.race([ended, wait(10_000, 'nothing', { ref: false })]))).to.match(/circular/)
      expect([await lines(), await standing()]).to.deep.equal([[], sound])
    })

  it('a row that cannot be read is an error of who asked for it, and of nobody else', async () => {
    const big = `select 9007199254740993::int8 as one, ?::int as two`
    const told = await inPlatform(async (trx) => {
      const asked = [one(trx), one(trx, big), one(trx)]
      later(trx, write, ['a'])
      return (await Promise.allSettled(asked)).map((end) =>
        end.status === 'fulfilled' ? end.value : String(end.reason),
      )
    })
    expect(told[1]).to.match(/beyond the safe integers/)
    expect([told[0], told[2]]).to.deep.equal([{ one: 1 }, { one: 1 }])
    expect(await lines()).to.deep.equal(['a'])
  })

  it('a row that cannot be read does not lend its name to the error of another statement', async () => {
    const big = `select 9007199254740993::int8 as one, ?::int as two`
    const told: string[] = []
    const ended = inPlatform(async (trx) => {
      const asked = [one(trx, big), one(trx, `select 1 / ?::int as one`, [0])].map(messageOf)
      told.push(...(await Promise.all(asked)))
    })
    expect(await messageOf(ended)).to.match(/division by zero/)
    expect(told[0]).to.match(/beyond the safe integers/)
    expect(told[1]).to.match(/division by zero/)
    expect(await standing()).to.deep.equal(sound)
  })

  it('a text that cannot be planned is not taken for planned, nor is one after it, and one before it is', async () => {
    const texts = [`select ?::int as one`, `select ?::int as one from nowhere`, `select ?::int as one, 2 as two`]
    for (let n = 0; n < 2; n += 1) {
      const ended = inPlatform((trx) => Promise.all(texts.map((text) => one(trx, text))))
      expect(await messageOf(ended)).to.match(/nowhere - relation "nowhere" does not exist/)
    }
    const rest = await inPlatform((trx) => Promise.all([texts[2]!, texts[0]!, texts[2]!].map((text) => one(trx, text))))
    expect(rest.map((row) => row?.one)).to.deep.equal([1, 1, 1])
  })

  it('a connection that ends in the middle answers each of them, and another one is taken', async () => {
    const told: string[] = []
    const ended = inPlatform(async (trx) => {
      later(trx, write, ['a'])
      const asked = [one(trx), one(trx, `select pg_terminate_backend(pg_backend_pid())::int as one, ?::int`), one(trx)]
      told.push(...(await Promise.all(asked.map(messageOf))))
      later(trx, write, ['b'])
    })
    const error = await ended.catch((why: unknown) => why)
    expect(isUnreachable(error), String(error)).to.equal(true)
    expect(told).to.have.lengthOf(3)
    expect(told[2]).to.match(/terminat|closed|not queryable/i)
    expect([await lines(), await standing()]).to.deep.equal([[], sound])
  })

  it('a connection that ends with the commit is not told of as committed', async () => {
    let committed = false
    const ended = inPlatform((trx) => {
      later(trx, write, ['a'])
      later(trx, `select pg_terminate_backend(pg_backend_pid()), ?::int`, [1])
      return Promise.resolve()
    }).then(() => (committed = true))
    expect(isUnreachable(await ended.catch((why: unknown) => why))).to.equal(true)
    expect([committed, await lines(), await standing()]).to.deep.equal([false, [], sound])
  })

  it('who asks when it is over is told so, and who writes later too', async () => {
    const late: Promise<string>[] = []
    let known: PlatformTrx | null = null
    await inPlatform(async (trx) => {
      known = trx
      await one(trx)
    })
    late.push(messageOf(one(known!)))
    expect(await late[0]).to.match(/already complete/)
    expect(() => later(known!, write, ['late'])).to.throw(/already complete/)
  })

  it('who has just asked when the transaction is given up hears of it', async () => {
    let heard = ''
    const ended = inPlatform(async (trx) => {
      await one(trx)
      one(trx).then(
        () => (heard = 'answered'),
        (error: unknown) => (heard = (error as Error).message),
      )
      throw new Error('given up')
    })
    expect(await messageOf(ended)).to.equal('given up')
    expect(heard).to.not.equal('')
    expect(await standing()).to.deep.equal(sound)
  })

  it('a thousand statements with more than any buffer holds, both ways, are answered in their order', async () => {
    const text = 'x'.repeat(15_000)
    const answers = await inPlatform((trx) =>
      Promise.all(
        Array.from({ length: 1_000 }, (_, n) =>
          preparedOne<{ n: number; size: number; text: string }>(
            trx,
            `select ?::int as n, length(?) as size, repeat('y', 15000) as text`,
            [n, text],
          ),
        ),
      ),
    )
    expect(answers.map((row) => row?.n)).to.deep.equal(Array.from({ length: 1_000 }, (_, n) => n))
    expect(new Set(answers.map((row) => `${row?.size} ${row?.text.length}`))).to.deep.equal(new Set(['15000 15000']))
  })

  it('rows that are gathered go in one statement with the commit, after a read of theirs, and not past a savepoint or a rollback', async () => {
    const into = {
      text: `insert into line (text) select n.text from jsonb_to_recordset(?::jsonb) as n (text text)`,
      read: /\b(from|into|update) line\b/,
    }
    const add = (trx: PlatformTrx, text: string) => gather(trx, into, { text })
    const counted = async (trx: PlatformTrx) =>
      (await one(trx, `select count(*) as one from line where true or ?::int = 1`))?.one
    const sent: string[] = []
    const note = ({ sql: text }: { sql: string }) => void (text === into.text.replace('?', '$1') && sent.push(text))
    database().on('query', note)
    await inPlatform(async (trx) => {
      add(trx, 'a')
      await one(trx)
      add(trx, 'b')
      await one(trx)
      expect(sent).to.have.length(0)
    })
    expect([sent.length, await lines()]).to.deep.equal([1, ['a', 'b']])
    await inPlatform(async (trx) => {
      add(trx, 'c')
      expect(await counted(trx)).to.equal(3)
      add(trx, 'd')
      await sql(trx, `savepoint here`)
      add(trx, 'e')
      await one(trx)
      await sql(trx, `rollback to savepoint here`)
      add(trx, 'f')
    })
    expect([sent.length, await lines()]).to.deep.equal([4, ['a', 'b', 'c', 'd', 'f']])
    const ended = inPlatform(async (trx) => {
      add(trx, 'g')
      await one(trx)
      throw new Error('given up')
    })
    expect(await messageOf(ended)).to.equal('given up')
    expect(await messageOf(inPlatform((trx) => Promise.resolve(add(trx, 'a'))))).to.match(/duplicate key/)
    database().off('query', note)
    expect([await lines(), await standing()]).to.deep.equal([['a', 'b', 'c', 'd', 'f'], sound])
  })

  it('a transaction within a transaction is refused: it would go past what waits', async () => {
    const ended = inPlatform(async (trx) => {
      later(trx, write, ['outer'])
      await trx.transaction((inner) => inner.raw(write, ['inner']))
    })
    expect(await messageOf(ended)).to.match(/savepoint/)
    expect([await lines(), await standing()]).to.deep.equal([[], sound])
  })

  it('one without values is sent after what was asked for before it, and before what was asked for after it', async () => {
    const count = `insert into line (text) select 'with ' || count(*) from line`
    await inPlatform(async (trx) => {
      await one(trx)
      await Promise.all([
        sql(trx, write, ['before']),
        sql(trx, count),
        sql(trx, `${count} where text <> ?`, ['']),
        sql(trx, `${count} where text <> ''`),
        sql(trx, write, ['after']),
      ])
    })
    expect(await lines()).to.deep.equal(['after', 'before', 'with 1', 'with 2', 'with 3'])
  })

  it('what is counted behind a lock sees what its last holder has written, though both were asked for at once', async () => {
    const holder = await held.database.admin.transaction()
    const lock = `select pg_advisory_xact_lock(?)`
    await holder.raw(lock, [4711])
    const counting = inPlatform(async (trx) => {
      const asked = [
        prepared(trx, lock, [4711]),
        preparedOne<{ lines: number }>(trx, `select count(*) as lines from line`),
      ] as const
      return (await Promise.all(asked))[1]
    })
    await until(async () => {
      const waiting = await sql(
        held.database.admin,
        `select from pg_locks l join pg_database d on d.oid = l.database
         where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`,
      )
      return waiting.length === 1
    })
    await holder.raw(write, ['a'])
    await holder.commit()
    expect(await counting).to.deep.equal({ lines: 1 })
  })

  for (const goes of ['asked for', 'written later, with the next question', 'written later, with the commit'])
    it(`a conflict repeats the whole, once and from its beginning, when it is ${goes}`, async () => {
      const texts: string[] = []
      let attempts = 0
      let told = 0
      await inPlatform(async (trx) => {
        attempts += 1
        onCommit(trx, () => (told += 1))
        trx.on('query', (query: { sql: string }) => texts.push(query.sql.split(' ')[0]!))
        later(trx, write, [`attempt ${attempts}`])
        const conflict = [`select conflict(?)`, [attempts === 1]] as const
        if (goes === 'asked for') await prepared(trx, ...conflict)
        else later(trx, ...conflict)
        if (goes === 'written later, with the next question') await one(trx)
      })
      expect([attempts, told, await lines()]).to.deep.equal([2, 1, ['attempt 2']])
      expect(texts.filter((word) => word === 'begin' || word === 'commit' || word === 'ROLLBACK').join(' ')).to.match(
        /^begin (commit )?ROLLBACK begin commit$/,
      )
      expect(await standing()).to.deep.equal(sound)
    })
})
