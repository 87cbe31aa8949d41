import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { provisionBook, raisePosting } from '../../db/financial/index.ts'
import { makeUser } from '../auth/support.ts'
import { createDraft, submitDraft } from '../../db/financial/drafts.ts'
import { createCostCenter } from '../../db/financial/cost-centers.ts'
import { createPostingRule } from '../../db/financial/posting-rules.ts'
import { createJournal } from '../../db/financial/journals.ts'
import { postManualEntry } from '../../db/financial/manual-entries.ts'
import { setExchangeRates } from '../../db/financial/exchange-rates.ts'
import { createAccount } from '../../db/financial/accounts/create.ts'
import { createAccrual } from '../../db/financial/accruals.ts'
import { createBudget } from '../../db/financial/budgets.ts'
import { createTemplate, pauseTemplate } from '../../db/financial/templates.ts'
import { addAttachment } from '../../db/lib/attachments.ts'
import { always } from '../../db/lib/conditions.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import type { House } from '../support/factories.ts'
import type { Known } from './inputs.ts'

/** Records of the ledger in each state that a command starts from. */
export const ofLedger = async (
  house: House,
): Promise<{ known: Known; examples: Record<string, unknown[]>; records: Record<string, string> }> => {
  const lines = [
    { accountCode: '5.1.09', debit: 500 },
    { accountCode: '1.1.3.80', credit: 500 },
  ]
  const file = { fileName: 'rent.csv', mediaType: 'text/csv' as const, bytes: Buffer.from('month,amount\n') }
  const { userId } = await makeUser({ [house.tenantId]: 'finance' })
  const found = await inTenant(
    house.tenantId,
    async (trx) => {
      const draft = { description: 'Rent', lines }
      const [open, submitted, toReject] = [
        await createDraft(trx, draft),
        await createDraft(trx, draft),
        await createDraft(trx, draft),
      ]
      await submitDraft(trx, submitted, always)
      await submitDraft(trx, toReject, always)
      const ofDraft = { module: 'financial', type: 'draft', id: open }
      const attachmentId = await addAttachment(trx, ofDraft, file)
      const removed = await addAttachment(trx, ofDraft, file)
      const accountId = await createAccount(trx, { code: '4.1.88', name: 'Rooms', parentCode: '4.1' })
      const spare = await createAccount(trx, { code: '4.1.87', name: 'Spare', parentCode: '4.1' })
      const unused = await createAccount(trx, { code: '4.1.86', name: 'Unused', parentCode: '4.1' })
      const toSubmit = await createDraft(trx, draft)
      const expense = await sqlOne<{ id: string }>(trx, `select id from account where code = '5.1.09' limit 1`)
      const recurring = {
        bookId: house.bookId,
        name: 'Fuzz',
        description: 'Fuzz',
        lines: [
          { accountId, side: 'credit' as const, amount: 100 },
          { accountId: expense?.id ?? '', side: 'debit' as const, amount: 100 },
        ],
        schedule: { every: 1, unit: 'month' as const, firstOn: house.day(0), mode: 'draft' as const },
      }
      const paused = await createTemplate(trx, recurring, always)
      await pauseTemplate(trx, paused)
      const [year] = await sql<{ id: string }>(trx, `select id from fiscal_year where book_id = ? order by starts_on`, [
        house.bookId,
      ])
      const plan = { fiscalYearId: year?.id ?? '', name: 'Fuzz', propertyId: house.propertyId }
      const toDelete = await createDraft(trx, draft)
      const parked = await raisePosting(trx, {
        event: 'payment.payment_captured',
        source: { id: randomUUID() },
        propertyId: house.propertyId,
        payload: { amounts: { amount: 5 }, documents: { payment: randomUUID() }, context: { money: 'gateway' } },
      })
      await sql(trx, `update posting_event set status = 'parked' where id = ?`, [parked.id])
      const [exchangeRate] = await setExchangeRates(trx, house.day(0), [{ from: 'USD', to: 'BRL', rate: '5' }])
      const row = await sqlOne<Record<string, string>>(
        trx,
        `select (select id from fiscal_period where number = 1 order by starts_on limit 1) as period_id,
           (select fiscal_year_id from fiscal_period order by starts_on limit 1) as fiscal_year_id,
           (select id from business_day limit 1) as business_day_id, (select id from tax_code limit 1) as tax_code_id,
           (select id from account where role = 'service_tax_payable') as liability_account_id`,
      )
      return {
        ...row,
        entryDraftId: open,
        attachmentId,
        removed,
        submitted,
        spare,
        unused,
        toDelete,
        toSubmit,
        parked: parked.id,
        toReject,
        accountId,
        exchangeRateId: exchangeRate?.id,
        expenseAccountId: expense?.id,
        entryTemplateId: await createTemplate(trx, recurring, always),
        paused,
        toRemove: await createTemplate(trx, recurring, always),
        budgetId: await createBudget(trx, plan, always),
        otherBudget: await createBudget(trx, plan, always),
        toApprove: await createBudget(trx, plan, always),
        accrualScheduleId: await createAccrual(
          trx,
          {
            bookId: house.bookId,
            kind: 'prepaid',
            targetAccountId: expense?.id ?? '',
            amount: 100,
            firstMonth: '2031-01',
            months: 2,
            description: 'Fuzz',
            propertyId: house.propertyId,
          },
          always,
        ),
        costCenterId: await createCostCenter(trx, { code: 'FUZZ', name: 'Fuzz' }),
        journalId: await createJournal(trx, { code: 'FUZZ', name: 'Fuzz', kind: 'general' }),
        ledgerEntryId: await postManualEntry(trx, { description: 'Fees', lines }, always),
        postingRuleId: await createPostingRule(trx, {
          event: 'reservations.room_night_charged',
          line: '@revenue',
          match: { category: 'room', propertyId: house.propertyId },
          accountId,
          validFrom: house.day(0),
        }),
      } as Record<string, string>
    },
    { actor: { type: 'user', id: userId } },
  )
  const over = await closedBooks(house)
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const entry = { bookId: house.bookId, description: 'Bank fees', lines }
  return {
    records: { ...found, bookId: house.bookId, postingEventId: found['parked'] ?? '' },
    known: {
      accountId: one(found['accountId']),
      journalId: one(found['journalId'], null),
      ledgerEntryId: one(found['ledgerEntryId']),
      costCenterId: one(found['costCenterId'], null),
      taxCodeId: one(found['taxCodeId']),
      periodId: one(found['periodId']),
      entryTemplateId: one(found['entryTemplateId']),
      'entryTemplates.resume entryTemplateId': one(found['paused']),
      'entryTemplates.delete entryTemplateId': one(found['toRemove']),
      accrualScheduleId: one(found['accrualScheduleId']),
      budgetId: one(found['budgetId']),
      'budgets.delete budgetId': one(found['otherBudget']),
      'budgets.approve budgetId': one(found['toApprove']),
      fiscalYearId: one(found['fiscalYearId']),
      'fiscalYears.close fiscalYearId': one(over.toClose.yearId),
      'fiscalYears.reopen fiscalYearId': one(over.toReopen.yearId),
      'periods.close periodId': one(over.toClose.periodId),
      'periods.reopen periodId': one(over.toReopen.periodId),
      businessDayId: one(found['businessDayId']),
      exchangeRateId: one(found['exchangeRateId']),
      postingRuleId: one(found['postingRuleId']),
      entryDraftId: one(found['entryDraftId']),
      attachmentId: one(found['attachmentId']),
      'financialAttachments.delete attachmentId': one(found['removed']),
      entityType: one('draft'),
      entityId: one(found['entryDraftId']),
      mediaType: one('text/csv'),
      content: one(file.bytes.toString('base64')),
      liabilityAccountId: one(found['liabilityAccountId']),
      postingEventId: one(found['parked']),
      'chartOfAccounts.archive accountId': one(found['spare']),
      'chartOfAccounts.delete accountId': one(found['unused']),
      'entryDrafts.submit entryDraftId': one(found['toSubmit']),
      'entryDrafts.delete entryDraftId': one(found['toDelete']),
      'journals.update journalId': one(found['journalId']),
      'costCenters.read costCenterId': one(found['costCenterId']),
      'costCenters.update costCenterId': one(found['costCenterId']),
      'costCenters.delete costCenterId': one(found['costCenterId']),
      'entryDrafts.approve entryDraftId': one(found['submitted']),
      'entryDrafts.reject entryDraftId': one(found['toReject']),
    },
    examples: {
      'ledgerEntries.post': [entry, { ...entry, kind: 'opening', postingDate: `${house.day(0).slice(0, 4)}-01-01` }],
      'ledgerEntries.reverse': [{ reason: 'Wrong account' }],
      'entryDrafts.approve': [{}],
      'books.create': [
        {
          name: 'Filial',
          legalName: 'Filial Ltda',
          countryCode: 'PT',
          taxRegime: 'other',
          currency: 'EUR',
          timeZone: 'Europe/Lisbon',
          firstYearStartsOn: `${house.day(0).slice(0, 4)}-01-01`,
          template: 'none',
        },
      ],
      'postingRules.create': [
        {
          bookId: house.bookId,
          event: 'reservations.room_night_charged',
          line: '@revenue',
          match: { category: 'room', marketSegment: 'group' },
          accountId: found['accountId'],
          validFrom: house.day(5),
        },
      ],
      'accrualSchedules.create': [
        {
          bookId: house.bookId,
          kind: 'prepaid',
          targetAccountId: found['expenseAccountId'],
          amount: 500,
          firstMonth: '2031-02',
          months: 5,
          description: 'Insurance',
        },
      ],
      'budgets.approve': [{}],
      'postingEvents.dismiss': [{ reason: 'Posted by hand' }],
      'chartOfAccounts.create': [
        { bookId: house.bookId, code: '4.1.85', name: 'Rooms', parentCode: '4.1' },
        { bookId: house.bookId, code: '4.1.84', name: 'Rooms', parentCode: '4.1' },
      ],
      'taxCodes.create': [
        {
          bookId: house.bookId,
          kind: 'document',
          code: 'ISS-F',
          name: 'ISS',
          liabilityAccountId: found['liabilityAccountId'],
          rate: 50_000,
          validFrom: '2026-01-01',
        },
      ],
      'chartOfAccounts.update': [{ name: 'Rooms of the annex' }, { usaliCode: '11' }],
      'postingEvents.retry': [{}, { filter: {} }],
      'exchangeRates.set': [{ date: house.day(0), rates: [{ from: 'EUR', to: 'BRL', rate: '6.12' }] }],
    },
  }
}

/** Two books whose last year is over: the months of one are closed, the year of the other. In both the first month of this year is soft-closed. */
const closedBooks = async (house: House) => {
  const year = Number(house.today.slice(0, 4))
  const make = async (isClosed: boolean) => {
    const bookId = await house.inHouse((trx) =>
      provisionBook(trx, {
        name: 'Over',
        countryCode: 'BR',
        currency: 'BRL',
        timeZone: 'America/Sao_Paulo',
        locale: 'pt-BR',
        isDefault: false,
        firstYearStartsOn: `${year - 1}-01-01`,
      }),
    )
    return house.inHouse(async (trx) => {
      const months = await sql<{ id: string; fiscalYearId: string }>(
        trx,
        `select id, fiscal_year_id from fiscal_period where book_id = ? and kind = 'regular' order by starts_on limit 13`,
        [bookId],
      )
      const put = (table: string, id: string, status: string) =>
        sql(trx, `update ${table} set status = ?, closed_by = ? where id = ?`, [status, randomUUID(), id])
      for (const { id } of months) await put('fiscal_period', id, 'soft_closed')
      for (const { id } of months.slice(0, 12)) await put('fiscal_period', id, 'closed')
      const yearId = months[0]?.fiscalYearId ?? ''
      if (isClosed) for (const status of ['closing', 'closed']) await put('fiscal_year', yearId, status)
      return { yearId, periodId: months[12]?.id ?? '' }
    })
  }
  return { toClose: await make(false), toReopen: await make(true) }
}
