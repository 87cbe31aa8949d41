import { expect } from 'chai'
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { ApiError } from '../../config/errors.ts'
import { sql } from '../../db/lib/connection.ts'
import { adjustCharge } from '../../db/reservations/folio/adjust.ts'
import { chargeFolio } from '../../db/reservations/folio/charge.ts'
import { openFolio } from '../../db/reservations/folio/create.ts'
import { leftOf } from '../../db/reservations/rules/folio-lines.ts'
import type { Line, PartTax } from '../../db/reservations/rules/folio-lines.ts'
import { transferLines } from '../../db/reservations/folio/transfer.ts'
import { createTaxRule } from '../../db/properties/terms/tax-rules.ts'
import { makeLateHouse, makeStays, payAll } from '../night-audit/support.ts'
import { useDatabase } from '../support/database.ts'
import type { House } from '../support/factories.ts'
import { deskOf } from './desk.ts'

type Row = Line & { kind: string; paymentId: string | null; transferId: string | null; taxes: PartTax[] }
type Step = { what: 'charge' | 'adjust' | 'move'; at: number; to: number; share: number; amount: number }

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom('charge', 'charge', 'adjust', 'move', 'move'),
  at: fc.nat(1_000),
  to: fc.nat(1_000),
  /** Of what is left, in percent; 100 is all of it. */
  share: fc.constantFrom(1, 33, 50, 67, 100, 100),
  amount: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 5_000_000 })),
})

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)

describe('Folios under random charges, adjustments, transfers and payments', () => {
  useDatabase()
  let house: House
  const { healthy } = deskOf(() => house)

  const rowsOf = (folioIds: readonly string[]) =>
    house.inHouse((trx) =>
      sql<Row>(trx, `select * from folio_line where folio_id = any(?::uuid[]) order by seq`, [folioIds]),
    )

  /** Checks the amount left of each part of a line, with the taxes included and on top. */
  const judge = (rows: readonly Row[]) => {
    for (const row of rows.filter((one) => ['charge', 'fee', 'payment', 'transfer_in'].includes(one.kind))) {
      const { left, included, onTop } = leftOf(row, rows)
      expect(left, JSON.stringify(row)).to.be.at.least(0)
      const taxes = [...included.map((tax) => tax.amount), ...onTop.map((tax) => tax.left)]
      expect(Math.min(0, ...taxes), JSON.stringify({ row, taxes })).to.equal(0)
      if (left === 0) expect(sum(taxes), JSON.stringify({ row, taxes })).to.equal(0)
    }
    const transfers = new Set(rows.flatMap((one) => (one.transferId ? [one.transferId] : [])))
    for (const id of transfers) {
      const own = rows.filter((one) => one.transferId === id)
      expect(sum(own.map((one) => one.amount))).to.equal(0)
      const taxes = own.flatMap((one) => one.taxes.map((tax) => tax.amount * Math.sign(one.amount)))
      expect(sum(taxes)).to.equal(0)
    }
  }

  it('keep their sums and taxes to the cent, and the ledger agrees', async () => {
    house = await makeLateHouse(1, { units: 2 })
    // On top, so that a charge has a tax in it and two beside it.
    for (const [code, rate] of [
      ['CITY', 333],
      ['SERVICE', 1_000],
    ] as const)
      await house.inHouse((trx) =>
        createTaxRule(trx, {
          propertyId: house.propertyId,
          code,
          name: { en: code, 'pt-BR': code },
          kind: 'tax',
          basis: 'percent',
          rate,
          included: false,
          appliesTo: 'extras',
          validFrom: '2020-01-01',
        }),
      )
    const [stay = ''] = await makeStays(house, 1, { from: 3 })
    await payAll(house, stay)
    const open = (kind: 'company' | 'guest') =>
      house.inHouse((trx) => openFolio(trx, { propertyId: house.propertyId, kind, reservationId: stay }))
    const [primary] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from folio where reservation_id = ? and is_primary`, [stay]),
    )
    const folioIds = [primary?.id ?? '', await open('company'), await open('guest')]
    const one = (list: readonly string[], at: number) => list[at % list.length] ?? ''

    const take = async ({ what, at, to, share, amount }: Step) => {
      const folioId = one(folioIds, at)
      if (what === 'charge') {
        const description = `Charge ${randomUUID().slice(0, 8)}`
        await house.inHouse((trx) => chargeFolio(trx, folioId, { category: 'food', description, unitAmount: amount }))
        return
      }
      const rows = (await rowsOf([folioId])).filter((row) => row.category !== 'tax')
      const all = await rowsOf(folioIds)
      const lines = rows.filter((row) => ['charge', 'payment', 'transfer_in'].includes(row.kind))
      const line = lines[to % Math.max(1, lines.length)]
      const left = line ? leftOf(line, all).left : 0
      const part = Math.floor((left * share) / 100)
      if (!line || part < 1) return
      await house.inHouse(async (trx) => {
        if (what === 'adjust')
          await adjustCharge(trx, folioId, { lineId: line.id, amount: part, reason: 'a test' }, { limited: false })
        else
          await transferLines(trx, folioId, {
            toFolioId: one(
              folioIds.filter((id) => id !== folioId),
              to,
            ),
            lines: [{ lineId: line.id, amount: part }],
          })
      })
    }

    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 40 }), async (steps) => {
        for (const each of steps)
          await take(each).catch((error: unknown) => {
            // A payment is not adjusted; all else is asked for within what is left.
            if (!(error instanceof ApiError) || error.code !== 'line_not_adjustable') throw error
          })
        const rows = await rowsOf(folioIds)
        judge(rows)
        const folios = await house.inHouse((trx) =>
          sql<{ id: string; charges: number; credits: number; balance: number; stage: string }>(
            trx,
            `select * from folio where id = any(?::uuid[])`,
            [folioIds],
          ),
        )
        for (const folio of folios) {
          const own = rows.filter((row) => row.folioId === folio.id)
          const money = own.filter((row) => row.paymentId !== null)
          expect(folio.credits).to.equal(0 - sum(money.map((row) => row.amount)))
          expect(folio.balance).to.equal(sum(own.map((row) => row.amount)))
          expect(folio.stage === 'deposit' && folio.charges > folio.credits).to.equal(false)
        }
      }),
      { seed: 20_261_122, numRuns: 6, endOnFailure: true },
    )
    await healthy()
  }).timeout(60_000)
})
