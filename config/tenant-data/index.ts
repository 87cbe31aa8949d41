import { accountsPayableData } from './accounts-payable.ts'
import { accountsReceivableData } from './accounts-receivable.ts'
import { adminData } from './admin.ts'
import { authData } from './auth.ts'
import { cashData } from './cash.ts'
import { channelsData } from './channels.ts'
import { documentsData } from './documents.ts'
import { financialData } from './financial.ts'
import { guestsData } from './guests.ts'
import { inventoryData } from './inventory.ts'
import { issuesData } from './issues.ts'
import { jobsData } from './jobs.ts'
import { libData } from './lib.ts'
import { nightAuditData } from './night-audit.ts'
import { ocpData } from './ocp.ts'
import { paymentData } from './payment.ts'
import { propertiesData } from './properties.ts'
import { reportsData } from './reports.ts'
import { reservationsData } from './reservations.ts'
import type { TenantTable } from './table.ts'
import { unitsData } from './units.ts'
import { webhooksData } from './webhooks.ts'

export type { TenantTable } from './table.ts'

/**
 * Every table with rows of tenants. A guard test compares it with the schema. A table that is forgotten is deleted with its tenant all the same,
 * and exported without what is sealed in it.
 */
export const tenantData: readonly TenantTable[] = [
  ...accountsPayableData,
  ...accountsReceivableData,
  ...adminData,
  ...authData,
  ...cashData,
  ...channelsData,
  ...documentsData,
  ...financialData,
  ...guestsData,
  ...inventoryData,
  ...issuesData,
  ...jobsData,
  ...libData,
  ...nightAuditData,
  ...ocpData,
  ...paymentData,
  ...propertiesData,
  ...reportsData,
  ...reservationsData,
  ...unitsData,
  ...webhooksData,
]
