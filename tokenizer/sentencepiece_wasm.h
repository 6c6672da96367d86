/* WebAssembly: the parts of <thread> and <mutex> that SentencePiece and its protobuf use, for a single thread. */
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace std
{
class thread
{
  public:
    using id = int;
    template <typename Body> explicit thread(Body body)
    {
        body();
    }
    void join()
    {
    }
};

class mutex
{
  public:
    void lock()
    {
    }
    void unlock()
    {
    }
    bool try_lock()
    {
        return true;
    }
};

namespace this_thread
{
inline int get_id()
{
    return 1;
} /* 0 means no thread */
} // namespace this_thread

template <typename T> shared_ptr<T> atomic_load(const shared_ptr<T> *place)
{
    return *place;
}

template <typename T> void atomic_store(shared_ptr<T> *place, shared_ptr<T> value)
{
    *place = std::move(value);
}
} // namespace std
