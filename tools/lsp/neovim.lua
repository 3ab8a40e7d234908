-- What a person has in Neovim of the model models/gpt2/gpt2.mlir, in which somebody has written weft.slic: JSON in found.json.
local LONG_MS = 60000
local found = {}

local function wrong()
  return vim.tbl_map(function(one) return one.message end, vim.diagnostic.get(0))
end

-- Row and column of the first letter of some words, and their line.
local function find(words)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
    local column = line:find(words, 1, true)
    if column then return number - 1, column - 1, line end
  end
end

local function replace(words, others)
  local row, column, line = find(words)
  local text = line:sub(1, column) .. others .. line:sub(column + #words + 1)
  vim.api.nvim_buf_set_lines(0, row, row + 1, true, { text })
end

-- What the server answers of the place that is so many letters behind the beginning of the words.
local function ask(method, words, behind)
  local row, column = find(words)
  local asked = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = row, character = column + behind } }
  for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/" .. method, asked, LONG_MS) or {}) do return answer.result end
end

vim.cmd("silent edit models/gpt2/gpt2.mlir")
found.model = { vim.bo.filetype, vim.bo.omnifunc, vim.bo.commentstring }
vim.wait(LONG_MS, function() return #wrong() > 0 end, 10)
found.wrong = wrong()
replace("weft.slic ", "weft.slice ")
vim.wait(LONG_MS, function() return #wrong() == 0 end, 10)
found.right = wrong()

found.hover = ask("hover", "%6 = model.call @tied_head", 1)
found.definition = ask("definition", "@block(%3)", 1)
found.completion = ask("completion", "weft.slice", #"weft.sl")

replace("%6 = model.call", "%6=model.call")
vim.cmd("silent write")
vim.cmd("silent edit models/gpt2/tiny.job")
found.job = vim.bo.filetype
vim.fn.writefile({ vim.fn.json_encode(found) }, "found.json")
vim.cmd("qall!")
