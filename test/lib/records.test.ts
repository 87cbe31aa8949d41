import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import {
  changeRow,
  expression,
  findRow,
  insertIfNew,
  insertLater,
  insertRow,
  insertRows,
  readRow,
} from '../../db/lib/records.ts'
import { queryOf } from '../../db/lib/shapes.ts'
import { model } from '../../db/lib/models.ts'
import { tables } from '../../db/rows.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { refusal } from '../support/refusals.ts'

const Promo = model('promo_code')
const Beat = model<'worker_heartbeat', { queues: unknown; current: unknown }>('worker_heartbeat', 'id')
const Blob = model('blob')
const Tax = model<'tax_rule', { name: Record<string, string> }>('tax_rule')

describe('Records by name', () => {
  const held = useDatabase()
  let house: House
  let other: House

  before(async () => {
    house = await makeHouse()
    other = await makeHouse()
  })

  const promo = (code: string, more: object = {}) => ({
    propertyId: house.propertyId,
    code,
    type: 'percent' as const,
    value: 500,
    ...more,
  })
  const made = (code: string, more: object = {}) => house.inHouse((trx) => insertRow(trx, Promo, promo(code, more)))

  it('name every column of every table', async () => {
    for (const name of Object.keys(tables) as (keyof typeof tables)[]) {
      const { sql: text } = queryOf(model(name))
        .select([...tables[name].fields])
        .toKnexQuery()
        .toSQL()
      await sql(held.database.admin, `${text} limit 0`)
    }
  })

  it('are answered as they were stored, with their defaults', async () => {
    const planId = randomUUID()
    const row = await made('STORED', { ratePlanIds: [planId], bookableFrom: '2030-01-02', minNights: undefined })
    expect(row).to.include({ tenantId: house.tenantId, code: 'STORED', value: 500, status: 'active', version: 1 })
    expect(row).to.include({ bookableFrom: '2030-01-02', minNights: null, redeemed: 0 })
    expect(row).to.deep.include({ ratePlanIds: [planId], unitTypeIds: [] })
    expect(await house.inHouse((trx) => readRow(trx, Promo, row.id))).to.deep.equal(row)
    expect(await house.inHouse((trx) => findRow(trx, Promo, { code: 'STORED' }, ['id']))).to.deep.equal({ id: row.id })
  })

  it('hold any JSON, and what the database computes', async () => {
    const base = { process: 'worker', host: 'here', pid: 1, version: '1' } as const
    for (const queues of [['a', { b: null }], { a: [1] }, 'a "word"', 7, false, []]) {
      const id = randomUUID()
      const row = await inPlatform((trx) =>
        insertRow(trx, Beat, {
          ...base,
          id,
          queues,
          startedAt: expression('make_timestamptz(?, 1, 1, 0, 0, 0)', 2030),
        }),
      )
      expect(row.queues).to.deep.equal(queues)
      expect(row.startedAt.getUTCFullYear()).to.be.within(2029, 2030)
      const next = { queues: [queues], beatAt: expression(`started_at + interval '1 year'`) }
      expect(await inPlatform((trx) => changeRow(trx, Beat, id, next))).to.equal(null)
      const changed = await inPlatform((trx) => readRow(trx, Beat, id))
      expect(changed.queues).to.deep.equal([queues])
      expect(changed.beatAt.getTime() - changed.startedAt.getTime()).to.be.closeTo(365 * 86_400_000, 2 * 86_400_000)
    }
  })

  it('are inserted many at once, whatever their fields hold', async () => {
    const levy = {
      propertyId: house.propertyId,
      code: 'levy',
      kind: 'fee',
      basis: 'per_stay',
      amount: 100,
      appliesTo: 'room',
      validFrom: '2030-01-01',
    } as const
    const rows = [1, 2, 3].map((n) => ({
      ...promo(`MANY-${n}`, { stayFrom: n === 2 ? '2031-05-06' : null }),
      id: randomUUID(),
      unitTypeIds: [randomUUID(), randomUUID()],
      createdAt: new Date('2029-01-01T00:00:00.123Z'),
    }))
    await house.inHouse((trx) => insertRows(trx, Promo, rows))
    for (const row of rows) expect(await house.inHouse((trx) => readRow(trx, Promo, row.id))).to.deep.include(row)
    const tax = { ...levy, name: { en: 'É "1"' }, exemptAgeCategoryIds: [randomUUID()] }
    await house.inHouse((trx) => insertRows(trx, Tax, [tax]))
    expect(await house.inHouse((trx) => readRow(trx, Tax, { code: 'levy' }))).to.deep.include(tax)
    await house.inHouse((trx) => insertRows(trx, Promo, []))
  })

  it('keep bytes, one at a time and many at once', async () => {
    const bytes = Buffer.from([0, 1, 92, 34, 255])
    const id = randomUUID()
    const one = await house.inHouse((trx) => insertRow(trx, Blob, { bytes }))
    await house.inHouse((trx) => insertRows(trx, Blob, [{ id, bytes }]))
    expect(one.bytes.equals(bytes)).to.equal(true)
    expect((await house.inHouse((trx) => readRow(trx, Blob, id))).bytes.equals(bytes)).to.equal(true)
  })

  it('are inserted later with the statement that follows', async () => {
    const id = randomUUID()
    const seen = await house.inHouse((trx) => {
      insertLater(trx, Promo, { ...promo('LATER'), id })
      return findRow(trx, Promo, id, ['code'])
    })
    expect(seen).to.deep.equal({ code: 'LATER' })
  })

  it('are inserted once where others have the values of their unique fields', async () => {
    const once = () =>
      house.inHouse((trx) => insertIfNew(trx, Promo, promo('ONCE'), ['tenantId', 'propertyId', 'code']))
    expect(await once()).to.include({ code: 'ONCE', version: 1 })
    expect(await once()).to.equal(null)
  })

  it('refuse a field that their table does not have', async () => {
    const failed = await house
      .inHouse((trx) => insertRow(trx, Promo, { ...promo('ODD'), colour: 'red' } as never))
      .catch((error: Error) => error.message)
    expect(failed).to.equal('promo_code has no colour')
  })

  it('are changed by their sent fields alone, and count their versions', async () => {
    const { id } = await made('CHANGED', { minNights: 3, stayUntil: '2032-01-01' })
    const change = (fields: object, expected?: number) =>
      house.inHouse((trx) => changeRow(trx, Promo, id, fields, expected))
    expect(await change({ minNights: null, value: undefined })).to.equal(2)
    expect(await change({})).to.equal(2)
    expect(await change({ value: 600 }, 2)).to.equal(3)
    const row = await house.inHouse((trx) => readRow(trx, Promo, id))
    expect(row).to.include({ minNights: null, value: 600, stayUntil: '2032-01-01', version: 3 })
    expect(await refusal(change({ value: 700 }, 2))).to.include({ status: 409, code: 'version_conflict' })
    expect(await house.inHouse((trx) => readRow(trx, Promo, id, ['value']))).to.deep.equal({ value: 600 })
  })

  it('of another tenant are not found', async () => {
    const { id } = await made('MINE')
    const elsewhere = (work: Parameters<House['inHouse']>[0]) => refusal(inTenant(other.tenantId, work))
    expect(await elsewhere((trx) => readRow(trx, Promo, id))).to.include({ status: 404 })
    expect(await elsewhere((trx) => changeRow(trx, Promo, id, { value: 1 }))).to.include({ status: 404 })
    expect(await elsewhere((trx) => changeRow(trx, Promo, id, { value: 1 }, 1))).to.include({ status: 404 })
    expect(await elsewhere((trx) => changeRow(trx, Promo, id, {}))).to.include({ status: 404 })
  })
})
