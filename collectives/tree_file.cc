#include "collectives/tree_file.h"

#include <charconv>
#include <utility>
#include <vector>

namespace fibocast {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

struct Word {
  std::string_view text;
  std::size_t line;
};

// Without comments.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t line = 1; !text.empty(); ++line) {
    std::string_view rest = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), rest.size() + 1));
    rest = rest.substr(0, rest.find('#'));
    for (std::size_t begin; (begin = rest.find_first_not_of(kBlanks)) != std::string_view::npos;) {
      rest.remove_prefix(begin);
      const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
      words.push_back({word, line});
      rest.remove_prefix(word.size());
    }
  }
  return words;
}

std::string in_line(const Word& word, const std::string& what) {
  return "line " + std::to_string(word.line) + ": \"" + std::string(word.text.substr(0, 40)).append("\" ").append(what);
}

std::optional<Rank> parse_rank(std::string_view text, std::size_t ranks) {
  Rank rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc() || end != text.data() + text.size() || rank >= ranks) return {};
  return rank;
}

// The ranks 0 .. p-1 in a sentence.
std::string rank_range(std::size_t ranks) { return "a rank, 0 to " + std::to_string(ranks - 1); }

std::optional<std::vector<Rank>> parse_parents(std::span<const Word> words, std::string& error) {
  std::vector<Rank> parent;
  std::size_t roots = 0;
  for (const Word& word : words) {
    const auto rank = word.text == "-" ? kNoRank : parse_rank(word.text, words.size());
    if (!rank) {
      error = in_line(word, "is neither - nor " + rank_range(words.size()));
      return {};
    }
    if (*rank == kNoRank && ++roots > 1) {
      error = in_line(word, "makes a second root");
      return {};
    }
    parent.push_back(*rank);
  }
  if (roots == 1) return parent;
  error = "a tree has a root: write - for its parent";
  return {};
}

std::optional<std::vector<Rank>> parse_order(std::span<const Word> words, std::size_t ranks, std::string& error) {
  std::vector<Rank> order;
  std::vector<bool> seen(ranks, false);
  for (const Word& word : words) {
    const auto rank = parse_rank(word.text, ranks);
    if (!rank || seen[*rank]) {
      error = in_line(word, rank ? "is in the order twice" : "is not " + rank_range(ranks));
      return {};
    }
    seen[*rank] = true;
    order.push_back(*rank);
  }
  if (order.size() == ranks) return order;
  error = "the order names " + std::to_string(order.size()) + " of " + std::to_string(ranks) + " ranks";
  return {};
}

}  // namespace

std::optional<Tree> parse_tree(std::string_view text, std::string& error) {
  const std::vector<Word> words = words_of(text);
  std::size_t ranks = 0;
  while (ranks < words.size() && words[ranks].text != "order") ++ranks;
  if (ranks < 1 || ranks > kMostTreeFileRanks) {
    error =
        "a tree has 1 to " + std::to_string(kMostTreeFileRanks) + " ranks: write the parent of each, - for the root";
    return {};
  }
  auto parent = parse_parents(std::span(words).first(ranks), error);
  if (!parent) return {};
  Tree tree = Tree::from_parents(*parent, SendOrder::kAscending);
  if (ranks < words.size()) {
    const auto order = parse_order(std::span(words).subspan(ranks + 1), ranks, error);
    if (!order) return {};
    tree = Tree::from_parents(std::move(*parent), *order);
  }
  if (tree.is_valid()) return tree;
  error = "some ranks are not below the root: their parents go round in a circle";
  return {};
}

std::string to_text(const Tree& tree) {
  std::string text;
  for (Rank v = 0; v < tree.size(); ++v) {
    text += v == 0 ? "" : " ";
    text += tree.parent(v) == kNoRank ? "-" : std::to_string(tree.parent(v));
  }
  text += "\norder";
  for (const Rank v : tree.from_root_down()) text.append(" ").append(std::to_string(v));
  return text + "\n";
}

}  // namespace fibocast
