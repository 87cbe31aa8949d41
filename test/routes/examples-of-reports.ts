import fc from 'fast-check'
import { createSchedule, startRun } from '../../db/reports/index.ts'
import { inTenant } from '../../db/lib/connection.ts'
import { makeUser } from '../auth/support.ts'
import type { House } from '../support/factories.ts'
import type { Known } from './inputs.ts'

/** A run that waits, and requests for reports that work. */
export const ofReports = async (
  house: House,
): Promise<{ known: Known; examples: Record<string, unknown[]>; records: Record<string, string> }> => {
  const { userId } = await makeUser({ [house.tenantId]: 'finance' })
  const caller = { id: userId, isKey: false }
  const reportRunId = await inTenant(house.tenantId, (trx) =>
    startRun(trx, {
      report: 'trial_balance',
      parameters: { bookId: house.bookId },
      format: 'csv',
      caller,
      sight: { propertyIds: null },
    }),
  )
  const schedule = {
    name: 'Balancete',
    report: 'trial_balance',
    parameters: { bookId: house.bookId, period: 'last_month' },
    format: 'csv',
    trigger: { type: 'clock', every: 'day', at: '06:00', timeZone: 'America/Sao_Paulo' },
    recipients: [userId],
  } as const
  const reportScheduleId = await inTenant(house.tenantId, (trx) =>
    createSchedule(trx, { ...schedule, ownerId: userId }, userId),
  )
  return {
    records: { reportRunId, reportScheduleId },
    known: {
      reportRunId: fc.constant(reportRunId),
      reportScheduleId: fc.constant(reportScheduleId),
      bookId: fc.constant(house.bookId),
      propertyId: fc.constant(house.propertyId),
      waitSeconds: fc.constant(0),
    },
    examples: {
      'reports.trialBalance': [{ bookId: house.bookId }, { bookId: house.bookId, level: 'group' }],
      'reports.incomeStatement': [
        { bookId: house.bookId, view: 'accounts' },
        { bookId: house.bookId, by: 'month' },
      ],
      'reports.generalLedger': [{ bookId: house.bookId, limit: 10 }],
      'reports.hotelLedgers': [{ bookId: house.bookId }],
      'reports.dailyRevenue': [{ propertyId: house.propertyId }],
      'reports.occupancy': [{}, { propertyId: house.propertyId, by: 'month' }],
      'reports.pace': [{ propertyId: house.propertyId }, { by: 'segment', compare: 'last_year' }],
      'reports.forecast': [{ propertyId: house.propertyId, days: 7 }],
      'reports.production': [{ propertyId: house.propertyId }, { by: 'source', top: 3 }],
      'reportSchedules.create': [schedule, { ...schedule, format: 'pdf' }],
      'reportSchedules.update': [{ active: false }, { name: 'Outro' }],
      'reportRuns.read': [{}, { waitSeconds: 0 }],
      'reportRuns.create': [
        { report: 'trial_balance', parameters: { bookId: house.bookId }, format: 'csv' },
        { report: 'journal', parameters: { bookId: house.bookId }, format: 'json' },
      ],
    },
  }
}
