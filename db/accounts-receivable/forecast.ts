/** Money that customers are to pay: installments of issued documents on their days. */
export const receivableForecast = `select p.currency, i.due_on as date, i.open as amount, p.property_id
  from receivable_installment i join receivable p on p.tenant_id = i.tenant_id and p.id = i.receivable_id
  where i.tenant_id = :tenantId and i.open > 0 and p.status in ('issued', 'partly_paid')
    and (cast(:bookId as uuid) is null or p.book_id = cast(:bookId as uuid)) and (cast(:propertyId as uuid) is null or p.property_id = cast(:propertyId as uuid))`
