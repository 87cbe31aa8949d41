import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Knex } from 'knex'
import { inTenant, sqlOne } from '../../db/lib/connection.ts'
import { useDatabase } from '../support/database.ts'
import { closeUntil, planOf, raiseOne } from './plans.ts'
import type { Plan } from './plans.ts'
import { addProperty, asRole, makeHouse, refusal } from './support.ts'
import type { House, Role } from './support.ts'

const insert = (trx: Knex.Transaction, table: string, rows: Plan | Plan[]) => trx(table).insert(rows)

for (const role of ['service', 'owner'] as Role[]) {
  for (const isolation of ['read committed', 'repeatable read'] as const) {
    describe(`the ledger's walls, as the ${role} under ${isolation}`, () => {
      const held = useDatabase()
      let house: House
      let plan: Awaited<ReturnType<typeof planOf>>
      beforeEach(async () => {
        house = await makeHouse()
        plan = await planOf(house)
      })
      const run = (work: (trx: Knex.Transaction) => Promise<unknown>) =>
        refusal(asRole(held.database, role, house.tenantId, work, isolation))
      const write = (entry: Plan = {}, debit: Plan = {}, credit: Plan = {}) =>
        run(async (trx) => {
          await insert(trx, 'journal_entry', { ...plan.entry, ...entry })
          await insert(trx, 'journal_line', [
            { ...plan.debit, ...debit },
            { ...plan.credit, ...credit },
          ])
        })
      const settle = async () => expect(await write()).to.equal('done')

      it('takes a balanced entry and moves the balances', async () => {
        await settle()
        const found = await inTenant(house.tenantId, (trx) =>
          sqlOne<{ debit: number; credit: number; lines: number }>(
            trx,
            'select sum(debit) as debit, sum(credit) as credit, sum(line_count) as lines from account_balance',
          ),
        )
        expect([Number(found?.debit), Number(found?.credit), Number(found?.lines)]).to.deep.equal([10_000, 10_000, 2])
      })

      it('refuses an entry that does not balance', async () => {
        expect(await write({}, {}, { credit: 9_999 })).to.equal('PL007')
        expect(await write({ total: 9_999 })).to.equal('PL007')
        expect(await write({}, { line_no: 2 }, { line_no: 3 })).to.equal('PL007')
        expect(await write({}, {}, { line_no: 4 })).to.equal('PL007')
        expect(
          await run(async (trx) => {
            await insert(trx, 'journal_entry', plan.entry)
            await insert(trx, 'journal_line', plan.debit)
          }),
        ).to.equal('PL007')
      })

      it('refuses a line with two sides, none, or a negative one', async () => {
        expect(await write({}, { credit: 5 })).to.equal('23514')
        expect(await write({}, { debit: 0 })).to.equal('23514')
        expect(await write({}, { debit: -10_000 })).to.equal('23514')
      })

      it('refuses a second set of lines, in the same transaction and later', async () => {
        expect(
          await run(async (trx) => {
            await insert(trx, 'journal_entry', plan.entry)
            await insert(trx, 'journal_line', [plan.debit, plan.credit])
            await insert(trx, 'journal_line', [plan.debit, plan.credit])
          }),
        ).to.equal('23505')
        await settle()
        const later = { ...plan.debit, line_no: 3 }
        expect(await run((trx) => insert(trx, 'journal_line', [later, { ...plan.credit, line_no: 4 }]))).to.equal(
          'PL006',
        )
      })

      it('refuses an entry without lines', async () => {
        expect(await run((trx) => insert(trx, 'journal_entry', plan.entry))).to.equal('PL009')
      })

      it('refuses what belongs to another tenant or book', async () => {
        const stranger = await makeHouse()
        const theirs = await planOf(stranger)
        const other = await inTenant(
          house.tenantId,
          async (trx) =>
            (
              await sqlOne<{ id: string }>(trx, `select id from fiscal_period where book_id = ? and id <> ? limit 1`, [
                house.bookId,
                plan.entry['period_id'],
              ])
            )?.id,
        )
        expect(await write({}, { account_id: theirs.debit['account_id'] })).to.equal('23503')
        expect(await write({}, { property_id: stranger.propertyId })).to.equal('23503')
        expect(await write({ journal_id: theirs.entry['journal_id'] })).to.equal('23503')
        expect(
          await write(
            { period_id: theirs.entry['period_id'] },
            { period_id: theirs.entry['period_id'] },
            { period_id: theirs.entry['period_id'] },
          ),
        ).to.equal('23503')
        expect(await write({ currency: 'EUR' })).to.equal('23503')
        expect(await write({}, {}, { posting_date: '2001-01-01' })).to.equal('23503')
        expect(await write({}, {}, { period_id: other })).to.equal('23503')
        expect(await write({}, { posting_date: '2001-01-01' }, { posting_date: '2001-01-01' })).to.equal('23503')
        const nobody = randomUUID()
        expect(await write({}, { entry_id: nobody }, { entry_id: nobody })).to.equal('23503')
        const own = await asRole(held.database, 'service', house.tenantId, async (trx) => {
          const [book] = await trx('book')
            .insert({
              name: 'Two',
              legal_name: 'Two',
              country_code: 'BR',
              currency: 'BRL',
              time_zone: 'America/Sao_Paulo',
            })
            .returning('id')
          return addProperty(trx as never, (book as { id: string }).id)
        })
        expect(await write({}, { property_id: own })).to.equal('23503')
      })

      it('refuses groups, archived accounts, and control accounts by hand or without a document', async () => {
        const account = (condition: string) =>
          inTenant(
            house.tenantId,
            async (trx) =>
              (
                await sqlOne<{ id: string }>(trx, `select id from account where book_id = ? and ${condition}`, [
                  house.bookId,
                ])
              )?.id,
          )
        expect(await write({}, { account_id: await account(`code = '1.1'`) })).to.equal('PL008')
        const bank = await account(`role = 'bank'`)
        expect(await write({}, { account_id: bank })).to.equal('PL008')
        const document = { document_type: 'payment', document_id: randomUUID() }
        expect(await write({ source_type: 'financial.manual' }, { account_id: bank, ...document })).to.equal('PL008')
        expect(await write({}, { account_id: bank, ...document })).to.equal('done')
        const travel = await account(`code = '6.1.10'`)
        await inTenant(house.tenantId, (trx) => trx('account').where({ id: travel }).update({ status: 'archived' }))
        plan.entry = { ...plan.entry, id: randomUUID(), source_id: randomUUID() }
        plan.debit = { ...plan.debit, entry_id: plan.entry['id'], account_id: travel }
        plan.credit = { ...plan.credit, entry_id: plan.entry['id'] }
        expect(await write()).to.equal('PL008')
      })

      it('refuses to archive an account with a balance', async () => {
        await settle()
        expect(
          await run((trx) => trx('account').where({ id: plan.debit['account_id'] }).update({ status: 'archived' })),
        ).to.equal(isolation === 'read committed' ? 'PL016' : 'PL013')
      })

      it('refuses dates outside the period, closed periods and locked dates', async () => {
        const elsewhere = { posting_date: '2001-01-01' }
        expect(await write(elsewhere, elsewhere, elsewhere)).to.equal('PL002')
        await inTenant(house.tenantId, (trx) =>
          trx('book').where({ id: house.bookId }).update({ lockedUntil: house.today }),
        )
        expect(await write()).to.equal('PL005')
        await inTenant(house.tenantId, (trx) => trx('book').where({ id: house.bookId }).update({ lockedUntil: null }))
        await closeUntil(house, 'soft_closed')
        expect(await write()).to.equal('PL004')
        expect(await write({ late: true })).to.equal('23514')
        expect(await write({ late: true, approved_by: randomUUID() })).to.equal('done')
        await closeUntil(house, 'closed')
        plan.entry = { ...plan.entry, id: randomUUID(), source_id: randomUUID() }
        const again = { entry_id: plan.entry['id'] }
        expect(await write({ late: true, approved_by: randomUUID() }, again, again)).to.equal('PL004')
      })

      it('lets nobody approve what he wrote', async () => {
        const person = randomUUID()
        expect(await write({ created_by: person, approved_by: person })).to.equal('23514')
        expect(await write({ created_by: person, approved_by: person, self_approved: true })).to.equal('done')
      })

      it('refuses every change of entries, lines, seals and balances', async () => {
        await settle()
        const changes: [string, string][] = [
          [`update journal_entry set description = 'x'`, 'PL010'],
          ['delete from journal_entry', 'PL010'],
          ["update journal_line set memo = 'x'", 'PL010'],
          ['delete from journal_line', 'PL010'],
          ['truncate journal_line', 'PL010'],
          ['truncate journal_entry cascade', 'PL010'],
          ['truncate journal_seal', 'PL010'],
          ['update account_balance set debit = 0', 'PL010'],
          ['delete from account_balance', 'PL010'],
          ['truncate account_balance', 'PL010'],
          ['update cash_counterpart set debit = 0', 'PL010'],
          ['delete from cash_counterpart', 'PL010'],
          ['truncate cash_counterpart', 'PL010'],
          ['truncate posting_event cascade', 'PL010'],
          ['delete from posting_event', 'PL010'],
        ]
        // A part of a table must not be a way around the whole.
        for (let part = 0; part < 16; part += 1) changes.push([`truncate journal_line_p${part}`, 'PL010'])
        await raiseOne(house)
        for (const [statement, owners] of changes) {
          expect(await run((trx) => trx.raw(statement)), statement).to.equal(role === 'service' ? '42501' : owners)
        }
        const before = {
          account_id: plan.debit['account_id'],
          book_id: house.bookId,
          period_id: plan.entry['period_id'],
          debit: 5,
        }
        expect(await run((trx) => insert(trx, 'account_balance', before))).to.equal(
          role === 'service' ? '42501' : 'PL010',
        )
      })

      it('refuses unbalanced lines written to a part of the table', async () => {
        const codes = new Set<string>()
        for (let part = 0; part < 16; part += 1) {
          codes.add(
            await run(async (trx) => {
              await insert(trx, 'journal_entry', plan.entry)
              await insert(trx, `journal_line_p${part}`, [plan.debit, { ...plan.credit, credit: 9_999 }])
            }),
          )
        }
        // Fifteen parts hold other tenants; the sixteenth is the right one, and its own wall refuses.
        expect([...codes].sort()).to.deep.equal(role === 'service' ? ['42501'] : ['23514', 'PL007'])
      })

      it('takes a source once, and a reversal once', async () => {
        await settle()
        const second = { id: randomUUID() }
        const ofSecond = { entry_id: second.id }
        expect(await write(second, ofSecond, ofSecond)).to.equal('23505')
        const turn = (id: string) =>
          write(
            { id, source_id: randomUUID(), kind: 'reversal', reverses_entry_id: plan.entry['id'] },
            { entry_id: id },
            { entry_id: id },
          )
        expect(await turn(randomUUID())).to.equal('done')
        expect(await turn(randomUUID())).to.equal('23505')
        expect(await write({ id: second.id, source_id: randomUUID(), kind: 'reversal' }, ofSecond, ofSecond)).to.equal(
          '23514',
        )
      })

      it('refuses events outside the open business day, an open period or an unlocked date', async () => {
        const event = (more: Plan = {}) =>
          run((trx) =>
            insert(trx, 'posting_event', {
              seq: 0,
              book_id: house.bookId,
              property_id: house.propertyId,
              period_id: randomUUID(),
              event: 'payment.payment_captured',
              source_id: randomUUID(),
              dated: 'day',
              posting_date: house.today,
              ...more,
            }),
          )
        expect(await event()).to.equal('done')
        expect(await event({ posting_date: `${Number(house.today.slice(0, 4)) + 1}-01-01` })).to.equal('PL012')
        expect(await event({ dated: 'document', posting_date: '2001-01-01' })).to.equal('PL002')
        await inTenant(house.tenantId, (trx) =>
          trx('posting_event').where({ bookId: house.bookId }).update({ status: 'posted' }),
        )
        await closeUntil(house, 'soft_closed')
        expect(await event()).to.equal('PL004')
      })
    })
  }
}
