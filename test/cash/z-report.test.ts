import { randomUUID } from 'node:crypto'
import { parse } from 'csv-parse/sync'
import { expect } from 'chai'
import { extractText, getDocumentProxy } from 'unpdf'
import { createCashAccount } from '../../db/cash/index.ts'
import { sqlOne } from '../../db/lib/connection.ts'
import { readPart } from '../../db/reports/index.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import type { Parsed } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

describe('the Z report of a register', function () {
  this.timeout(120_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  const send = (path: string, body: object) => owner.send('POST', path, body, { idempotencyKey: randomUUID() })

  before(async () => {
    house = await makeHouse({ units: 1 })
    await forgetLimits(world)
    owner = await openDesk(world, house, 'owner')
  })

  /** A day of a register: sales in cash and by terminal, supply, money out, a reversal, a difference and a drop. */
  const aDay = async (code: string, counted: Record<string, number>, drop: number): Promise<Parsed> => {
    const { propertyId } = house
    const account = (kind: 'register' | 'safe' | 'bank', amount: number) =>
      house.inHouse((trx) =>
        createCashAccount(trx, {
          kind,
          code: `${code}-${kind.toUpperCase()}`,
          name: code,
          propertyId,
          opening: { amount, on: house.today },
        }),
      )
    const [registerId, safeId, bankId] = [
      await account('register', 20_000),
      await account('safe', 500_000),
      await account('bank', 1_000_000),
    ]
    const expense = await house.inHouse((trx) =>
      sqlOne<{ id: string }>(trx, `select id from account where code = '6.1.10'`),
    )
    const { id } = done(await send('cash/sessions', { registerId, count: { '10000': 2 } }), 201)
    const paid = (method: string, amount: number, more: object = {}) =>
      send('payments/record', { propertyId, currency: 'BRL', method, amount, cashSessionId: id, ...more })
    done(await paid('cash', 123_450), 201)
    const wrong = done(await paid('cash', 7_000), 201)
    done(await send(`payments/${wrong.id}/cancel`, { reason: 'Twice' }))
    done(await paid('terminal', 45_600, { cashAccountId: bankId, reference: `${code}-1` }), 201)
    const supply = {
      fromAccountId: safeId,
      toAccountId: registerId,
      method: 'manual',
      amount: 3_000,
      purpose: 'Change',
    }
    done(await send('cash/transfers', supply), 201)
    const out = { cashAccountId: registerId, amount: -1_299, accountId: expense?.id, description: 'Flowers' }
    done(await send('cash/movements', out), 201)
    done(await send(`cash/sessions/${id}/close`, { count: counted, drop: { amount: drop, toAccountId: safeId } }))
    return done(await owner.get(`cash/sessions/${id}`))
  }

  const run = async (format: string): Promise<Buffer> => {
    const days = { startDate: house.day(-1), endDate: house.day(1) }
    const asked = { report: 'register_sessions', parameters: days, format, locale: 'en' }
    const { id } = done(await owner.send('POST', 'reports/runs', asked), 201)
    await world.drain({ kinds: ['reports.run'] })
    return Buffer.from(await house.inHouse((trx) => readPart(trx, String(id), 1)))
  }

  it('has the same totals as JSON, CSV and PDF, and foots to what was expected', async () => {
    const sessions = [
      await aDay('BAR', { '10000': 14, '500': 1, '1': 151 }, 120_000),
      await aDay('DESK', { '10000': 14, '100': 52 }, 1_001),
    ]
    // The totals of each session by method and kind come to the columns of its Z.
    const rows = sessions.map((session) => {
      const totals = session.totals as { method: string; kind: string; in: number; out: number }[]
      const sum = (side: 'in' | 'out', of: (one: { method: string; kind: string }) => boolean) =>
        totals.filter(of).reduce((all, one) => all + one[side], 0)
      const isMoved = ({ method, kind }: { method: string; kind: string }) => method === 'cash' && kind !== 'difference'
      const isOther = ({ method }: { method: string }) => method !== 'cash'
      return {
        opening: session.opening as number,
        cashIn: sum('in', isMoved),
        cashOut: sum('out', isMoved) - session.dropped,
        expected: session.expected as number,
        counted: session.counted as number,
        difference: session.difference as number,
        dropped: session.dropped as number,
        otherMethods: sum('in', isOther) - sum('out', isOther),
      }
    })
    for (const { opening, cashIn, cashOut, expected, counted, difference } of rows) {
      expect(opening + cashIn - cashOut).to.equal(expected)
      expect(counted - expected).to.equal(difference)
    }
    expect(rows.map(({ dropped, difference }) => [dropped, difference])).to.deep.equal([
      [120_000, -4_500],
      [1_001, 49],
    ])
    expect(rows.map(({ otherMethods }) => otherMethods)).to.deep.equal([45_600, 45_600])

    const json = JSON.parse(String(await run('json'))) as { data: Parsed[]; totals: Record<string, number> }
    expect(json.data).to.have.length(2)
    for (const [index, row] of rows.entries()) expect(json.data[index]).to.include(row)
    const total = (column: keyof (typeof rows)[number]) => rows.reduce((all, row) => all + row[column], 0)
    const summed = ['cashIn', 'cashOut', 'difference', 'dropped', 'otherMethods'] as const
    for (const column of summed) expect(json.totals[column], column).to.equal(total(column))

    const minor = (cell = '') => Math.round(Number(cell.replaceAll(',', '')) * 100)
    const names = {
      cashIn: 'In',
      cashOut: 'Out',
      difference: 'Difference',
      dropped: 'Dropped at closing',
      otherMethods: 'Other methods',
    }
    const cells: string[][] = parse(await run('csv'), { bom: true, delimiter: [';', ','], relax_column_count: true })
    const head = cells.findIndex((line) => line.includes(names.dropped))
    for (const column of summed) {
      const place = cells[head]?.indexOf(names[column]) ?? -1
      const told = cells.slice(head + 1, head + 4).map((line) => minor(line[place]))
      expect(told, `${column} ${JSON.stringify(cells)}`).to.deep.equal([
        ...rows.map((row) => row[column]),
        total(column),
      ])
    }

    const text = (await extractText(await getDocumentProxy(new Uint8Array(await run('pdf'))))).text.join(' ')
    for (const column of summed)
      for (const amount of [...rows.map((row) => row[column]), total(column)])
        expect(text, `${column} ${amount}`).to.contain(
          (amount / 100).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
        )
  })
})
