import { routes as accountsPayable } from './accounts-payable/index.ts'
import { routes as accountsReceivable } from './accounts-receivable/index.ts'
import { routes as tenant } from './admin/tenant.ts'
import { routes as auth } from './auth/index.ts'
import { routes as financial } from './financial/index.ts'
import { routes as folioLines } from './reservations/folio-lines.ts'
import { routes as folios } from './reservations/folios.ts'
import { routes as groups } from './reservations/groups.ts'
import { routes as reports } from './reports/index.ts'
import { routes as reservations } from './reservations/index.ts'
import { routes as inventory } from './inventory/index.ts'
import { routes as cash } from './cash/index.ts'
import { routes as issues } from './issues/index.ts'
import { routes as besideGuests } from './guests/beside.ts'
import { routes as companies } from './guests/companies.ts'
import { routes as guestDuplicates } from './guests/duplicates.ts'
import { routes as privacyRequests } from './guests/privacy-requests.ts'
import { routes as guestRegistrations } from './guests/registrations.ts'
import { routes as guests } from './guests/guests.ts'
import { routes as guestMerges } from './guests/merges.ts'
import { routes as channelBookings } from './channels/bookings.ts'
import { routes as channelConnections } from './channels/connections.ts'
import { routes as extras } from './properties/extras.ts'
import { routes as policies } from './properties/policies.ts'
import { routes as properties } from './properties/properties.ts'
import { routes as availability } from './properties/availability.ts'
import { routes as gallery } from './properties/gallery.ts'
import { routes as overbooking } from './properties/overbooking.ts'
import { routes as ageCategories } from './properties/age-categories.ts'
import { routes as propertyPaymentMethods } from './properties/payment-methods.ts'
import { routes as promoCodes } from './properties/promo-codes.ts'
import { routes as seasons } from './properties/seasons.ts'
import { routes as taxRules } from './properties/tax-rules.ts'
import { routes as messageAutomations } from './ocp/automations.ts'
import { routes as messageCallbacks } from './ocp/callbacks.ts'
import { routes as messageCampaigns } from './ocp/campaigns.ts'
import { routes as messageChannels } from './ocp/channels.ts'
import { routes as conversations } from './ocp/conversations.ts'
import { routes as messages } from './ocp/messages.ts'
import { routes as suppressions } from './ocp/suppressions.ts'
import { routes as messageTemplates } from './ocp/templates.ts'
import { routes as messageUsage } from './ocp/usage.ts'
import { routes as unsubscribing } from './public/unsubscribe.ts'
import { routes as nightAudits } from './night-audit/night-audits.ts'
import { routes as rateCalendar } from './properties/rate-calendar.ts'
import { routes as rateChanges } from './properties/rate-changes.ts'
import { routes as ratePlans } from './properties/rate-plans.ts'
import { routes as publicHold } from './public/hold.ts'
import { routes as publicBooking } from './public/booking.ts'
import type { AnyRoute } from './lib/route.ts'
import { routes as paymentAccounts } from './payment/accounts.ts'
import { routes as paymentBalance } from './payment/balance.ts'
import { routes as paymentCallbacks } from './payment/callbacks.ts'
import { routes as pixCallbacks } from './cash/callbacks.ts'
import { routes as paymentDisputes } from './payment/disputes.ts'
import { routes as paymentExceptions } from './payment/exceptions.ts'
import { routes as paymentMethods } from './payment/methods.ts'
import { collectionRoutes as payments, oneRoutes as onePayment } from './payment/payments/index.ts'
import { routes as paymentRefunds } from './payment/refunds.ts'
import { routes as publicPayments } from './public/payments.ts'
import { routes as publicProperty } from './public/property.ts'
import { routes as publicRegistrations } from './public/registrations.ts'
import { routes as publicQuotes } from './public/quotes.ts'
import { routes as housekeepingBoard } from './units/housekeeping-board.ts'
import { routes as housekeepingSheets } from './units/housekeeping-sheets.ts'
import { routes as housekeepingTasks } from './units/housekeeping-tasks.ts'
import { routes as housekeepingWork } from './units/housekeeping-work.ts'
import { routes as unitReports } from './units/observe.ts'
import { routes as unitsAvailable } from './units/available.ts'
import { routes as unitAssignments } from './units/unit-assignments.ts'
import { routes as unitBlocks } from './units/unit-blocks.ts'
import { routes as unitCalendar } from './units/unit-calendar.ts'
import { routes as unitPools } from './units/unit-pools.ts'
import { routes as unitTypes } from './units/unit-types.ts'
import { routes as units } from './units/units.ts'
import { routes as webhookDeliveries } from './webhooks/deliveries.ts'
import { routes as webhookEndpoints } from './webhooks/endpoints.ts'
import { routes as webhookEventTypes } from './webhooks/event-types.ts'
import { routes as eventFeed } from './webhooks/feed.ts'
import { routes as billing } from './admin/billing.ts'
import { routes as superuserBilling } from './admin/invoices.ts'
import { routes as announcements } from './admin/announcements.ts'
import { routes as auditLog } from './admin/audit.ts'
import { tellRoutes } from './admin/catalogue/features.ts'
import { routes as superuserCatalogue } from './admin/catalogue/index.ts'
import { routes as superuserExports } from './admin/exports.ts'
import { routes as superusers } from './admin/superusers.ts'
import { routes as superuserTenants } from './admin/tenants.ts'
import { routes as superuserEntitlements } from './admin/entitlements.ts'
import { routes as superuserHealth } from './admin/health.ts'
import { routes as superuserJobs } from './admin/jobs.ts'
import { routes as superuserQueues } from './admin/queues.ts'
import { routes as superuserUsers } from './admin/users.ts'

/** Every endpoint of the service. */
export const routes: readonly AnyRoute[] = [
  ...tenant,
  ...auth,
  ...guestDuplicates,
  ...guests,
  ...guestMerges,
  ...besideGuests,
  ...companies,
  ...privacyRequests,
  ...guestRegistrations,
  ...publicBooking,
  ...publicHold,
  ...reservations,
  ...folios,
  ...folioLines,
  ...groups,
  ...accountsPayable,
  ...accountsReceivable,
  ...financial,
  ...reports,
  ...inventory,
  ...cash,
  ...issues,
  ...billing,
  ...superuserBilling,
  ...superuserTenants,
  ...superuserCatalogue,
  ...superuserExports,
  ...superusers,
  ...auditLog,
  ...announcements,
  ...webhookDeliveries,
  ...webhookEndpoints,
  ...webhookEventTypes,
  ...eventFeed,
  ...paymentCallbacks,
  ...pixCallbacks,
  ...paymentAccounts,
  ...paymentMethods,
  ...payments,
  ...paymentRefunds,
  ...paymentDisputes,
  ...paymentBalance,
  ...paymentExceptions,
  ...onePayment,
  ...publicPayments,
  ...publicProperty,
  ...publicQuotes,
  ...publicRegistrations,
  ...properties,
  ...policies,
  ...extras,
  ...ratePlans,
  ...nightAudits,
  ...rateCalendar,
  ...rateChanges,
  ...availability,
  ...overbooking,
  ...gallery,
  ...ageCategories,
  ...seasons,
  ...propertyPaymentMethods,
  ...taxRules,
  ...promoCodes,
  ...channelConnections,
  ...channelBookings,
  ...messageChannels,
  ...messageTemplates,
  ...messageAutomations,
  ...messages,
  ...conversations,
  ...suppressions,
  ...messageCampaigns,
  ...messageUsage,
  ...messageCallbacks,
  ...unsubscribing,
  ...unitTypes,
  ...unitPools,
  ...unitsAvailable,
  ...units,
  ...unitBlocks,
  ...unitAssignments,
  ...unitCalendar,
  ...unitReports,
  ...housekeepingBoard,
  ...housekeepingTasks,
  ...housekeepingWork,
  ...housekeepingSheets,
  ...superuserEntitlements,
  ...superuserHealth,
  ...superuserJobs,
  ...superuserQueues,
  ...superuserUsers,
]

tellRoutes(routes)
