import { accountsPayableEvents } from './accounts-payable.ts'
import { accountsReceivableEvents } from './accounts-receivable.ts'
import { adminEvents } from './admin.ts'
import { authEvents } from './auth.ts'
import { cashEvents } from './cash.ts'
import { pixEvents } from './pix.ts'
import { cashStatementEvents } from './cash-statements.ts'
import { channelsEvents } from './channels.ts'
import { depositsEvents } from './deposits.ts'
import { financialEvents } from './financial.ts'
import { fiscalEvents } from './fiscal.ts'
import { foliosEvents } from './folios.ts'
import { groupsEvents } from './groups.ts'
import { guestsEvents } from './guests.ts'
import { housekeepingEvents } from './housekeeping.ts'
import { inventoryEvents } from './inventory.ts'
import { issuesEvents } from './issues.ts'
import { nightAuditEvents } from './night-audit.ts'
import { ocpEvents } from './ocp.ts'
import { paymentEvents } from './payment.ts'
import { propertiesEvents } from './properties.ts'
import { quotesEvents } from './quotes.ts'
import { ratesEvents } from './rates.ts'
import { receiptsEvents } from './receipts.ts'
import { reportsEvents } from './reports.ts'
import { reservationsEvents } from './reservations.ts'
import { unitsEvents } from './units.ts'
import { waitlistEvents } from './waitlist.ts'
import { webhooksEvents } from './webhooks.ts'
import type { Event } from './event.ts'

/** Every event that can be raised, a list per module. */
export const events: readonly Event[] = [
  ...accountsPayableEvents,
  ...accountsReceivableEvents,
  ...adminEvents,
  ...authEvents,
  ...cashEvents,
  ...cashStatementEvents,
  ...pixEvents,
  ...channelsEvents,
  ...depositsEvents,
  ...financialEvents,
  ...fiscalEvents,
  ...foliosEvents,
  ...groupsEvents,
  ...guestsEvents,
  ...housekeepingEvents,
  ...inventoryEvents,
  ...issuesEvents,
  ...nightAuditEvents,
  ...ocpEvents,
  ...paymentEvents,
  ...propertiesEvents,
  ...quotesEvents,
  ...ratesEvents,
  ...receiptsEvents,
  ...reportsEvents,
  ...reservationsEvents,
  ...unitsEvents,
  ...waitlistEvents,
  ...webhooksEvents,
]
