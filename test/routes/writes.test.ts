import { expect } from 'chai'
import { readFileSync, readdirSync } from 'node:fs'
import { routes } from '../../api/routes.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { useDatabase } from '../support/database.ts'
import { watchWrites } from '../support/writes.ts'
import type { Writes } from '../support/writes.ts'
import { moduleOf } from './fuzz.ts'

describe('the look at what a request has written', () => {
  const held = useDatabase()
  let writes: Writes
  const admin = (text: string) => sql(held.database.admin, text)
  const change = (text: string) => inPlatform((trx) => sql(trx, text))
  before(async () => {
    for (const text of [
      `create table house (id int primary key, name text)`,
      `create table room (id int primary key, house_id int references house on delete cascade)`,
      `create table stay (id int primary key) partition by range (id)`,
      `create table stay_part partition of stay for values from (0) to (1000)`,
      `insert into house values (1, 'Mar'), (2, 'Sol')`,
      `insert into room values (1, 1)`,
      `grant all on house, room, stay, stay_part to pousada_service`,
    ])
      await admin(text)
    writes = await watchWrites(held.database.admin)
  })
  beforeEach(() => writes.written())

  it('is at every table, and at every part of one', async () => {
    const bare = `select c.relname as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        and 4 <> (select count(*) from pg_trigger t join pg_proc p on p.oid = t.tgfoid
          where t.tgrelid = c.oid and t.tgenabled = 'O' and p.pronamespace = 'watch'::regnamespace)`
    expect(await admin(bare)).to.deep.equal([])
    await admin(`create table unseen (id int)`)
    expect(await admin(bare)).to.deep.equal([{ name: 'unseen' }])
  })

  for (const [what, text, tables] of [
    ['an insert', `insert into house values (3, 'Lua')`, ['house']],
    ['an update to what is there already', `update house set name = name where id = 2`, ['house']],
    ['an insert that updates', `insert into house values (2, '') on conflict (id) do update set name = ''`, ['house']],
    [
      'a write inside of a query',
      `with gone as (delete from house where id = 3 returning id) select * from gone`,
      ['house'],
    ],
    ['what a deletion takes along', `delete from house where id = 1`, ['house', 'room']],
    ['a row of a part', `insert into stay values (1)`, ['stay']],
    ['a row of a part that is named itself', `insert into stay_part values (2)`, ['stay_part']],
    ['a truncation', `truncate room`, ['room']],
  ] as const)
    it(`finds ${what}`, async () => {
      await change(text)
      expect(await writes.written()).to.deep.equal(tables)
      expect(await writes.written(), 'told once').to.deep.equal([])
    })

  it('finds no write where no row changed, or where it was taken back', async () => {
    for (const text of [
      `update house set name = '' where id = 99`,
      `delete from house where id = 99`,
      `insert into house select 99, '' where false`,
      `insert into house values (2, '') on conflict do nothing`,
      `select * from house for update`,
    ])
      await change(text)
    const back = inPlatform(async (trx) => {
      await sql(trx, `update house set name = 'Vento'`)
      throw new Error('taken back')
    })
    expect(await back.catch((error: Error) => error.message)).to.equal('taken back')
    expect(await writes.written()).to.deep.equal([])
  })

  it('keeps no transaction waiting for another that has written', async () => {
    await inPlatform(async (outer) => {
      await sql(outer, `insert into house values (50, '')`)
      await inPlatform((inner) => sql(inner, `insert into house values (51, '')`))
      expect(await writes.written()).to.deep.equal(['house'])
    })
    expect(await writes.written()).to.deep.equal(['house'])
  })
})

describe('the fuzz', () => {
  it('is of every module that has an endpoint, each once', () => {
    const folder = new URL('./', import.meta.url)
    const fuzzed = readdirSync(folder)
      .filter((name) => /^fuzz-.*\.test\.ts$/.test(name))
      .flatMap((name) => [...readFileSync(new URL(name, folder), 'utf8').matchAll(/'([a-z_-]+)'/g)])
      .map(([, module = '']) => module)
    expect(fuzzed.toSorted()).to.deep.equal([...new Set(routes.map(moduleOf))].toSorted())
  })
})
