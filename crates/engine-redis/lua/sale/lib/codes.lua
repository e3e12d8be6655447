-- sale/lib/codes: how any verb finds the code that its caller may act on, and what a shelf says to what is asked.
-- The living code, or why there is none.
local function living_code(id)
  local code = code_of(id)
  if code then return code end
  if purchase_of(id) then return nil, NO.checkout_purchased end
  local how = ended_as(id)
  if not how then return nil, NO.checkout_unknown end
  return nil, how == HOW.expired and NO.expired or NO.released
end

local function own_code(id, buyer_name)
  local code, why = living_code(id)
  if code and code.buyer ~= buyer_name then return nil, NO.not_yours end
  return code, why
end

-- What is refused outright once the sale is over; nil if it is not.
local function over()
  if status == "ended" then return NO.sale_closed end
  if status == "cancelled" then return NO.sale_cancelled end
end

local function unknown_skus(asked)
  local all = {}
  for n = 1, #asked do
    if not level(asked[n][1]) then all[#all + 1] = {"k", asked[n][1], NO.sku_unknown} end
  end
  return all
end

-- Every SKU of which there is too little, in the order asked, and why.
local function obstacles(asked)
  local all = {}
  for n = 1, #asked do
    local of = level(asked[n][1])
    local free = available(of)
    if free < asked[n][2] then
      local why = NO.not_enough_stock
      if free == 0 then why = of.reserved == 0 and NO.sold_out or NO.sold_out_for_now end
      all[#all + 1] = {"k", asked[n][1], why}
    end
  end
  return all
end

local function already_purchased(bought)
  return answer(7, {bought.order, bought.id, bought.buyer, decimal(bought.at), write_lines(bought.lines),
    table.concat(bought.back, ",")})
end
